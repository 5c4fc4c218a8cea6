#!/usr/bin/env python3
"""The package works where it was fetched: fetched.py --zig ZIG --cache FOLDER.

Makes the archive twice (it has to be the same), has `zig fetch --save` put it into a project
outside of the tree, which then names its version and hash, builds the project and runs it.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ARCHIVE = HERE.parents[1] / "archive.py"


def run(*command, folder: Path, **environment) -> str:
    done = subprocess.run(command, cwd=folder, env={**os.environ, **environment}, text=True,
                          capture_output=True)
    if done.returncode != 0:
        raise SystemExit(f"{command} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--zig", required=True)
    parser.add_argument("--cache", required=True, help="where Zig keeps what it compiles")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name in ("build.zig", "build.zig.zon", "main.zig"):
            shutil.copy(HERE / name, folder)
        archives = [folder / "first.tar.gz", folder / "second.tar.gz"]
        for archive in archives:
            run(sys.executable, str(ARCHIVE), str(archive), folder=folder)
        if archives[0].read_bytes() != archives[1].read_bytes():
            raise SystemExit("the same files give different archives")
        cache = {"ZIG_GLOBAL_CACHE_DIR": options.cache, "ZIG_LOCAL_CACHE_DIR": options.cache}
        run(options.zig, "fetch", "--save", archives[0].name, folder=folder, **cache)
        manifest = (folder / "build.zig.zon").read_text()
        if not re.search(r'\.hash = "kernelmill-1\.\d+\.\d+-[\w-]+"', manifest):
            raise SystemExit(f"no version and hash of the package in {manifest}")
        run(options.zig, "build", folder=folder, **cache)
        output = run(str(folder / "zig-out/bin/fetched"), folder=folder)
        if "version 1: { 7, 7, 7, 7 }" not in output:
            raise SystemExit(f"not what it should print: {output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
