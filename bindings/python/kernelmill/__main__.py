"""The command `kernelmill`: this process becomes the program."""

import os
import stat
import sys

from kernelmill._paths import command_path


def main() -> None:
    path = command_path()
    mode = os.stat(path).st_mode
    if not mode & stat.S_IXUSR:  # an installer that forgets modes
        os.chmod(path, mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
