#!/usr/bin/env python3
"""A root of Debian for AArch64 whose programs start each other under an emulator, as they do in a
container on a machine of another architecture: emulated.py EMULATOR ROOT WORD... runs one of them.

Linux 6.7 and later keep a table of emulators (binfmt_misc) for each user namespace. The emulator is
in that of the program alone, and the machine's table stays as it is.
"""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

from packages import ROOT
from roots import MIRROR, ROOTS, copy_network_files, environment_inside

ARM64 = ROOT / ".deps/arm64"
EMULATOR = ARM64 / "tools/usr/bin/qemu-aarch64-static"
TABLE = Path("/proc/sys/fs/binfmt_misc")
# The beginning of a program of ELF for the machine 183, and which of its bits are compared: type 3
# is a program as well as type 2.
MAGIC = b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\x00\xb7\x00"
MASK = b"\xff" * 7 + b"\x00" + b"\xff" * 8 + b"\xfe\xff\xff\xff"
NEW_USER, NEW_MOUNTS = 0x10000000, 0x20000  # CLONE_NEWUSER, CLONE_NEWNS


def escaped(data: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in data)


def map_users(process: int) -> None:
    """Everyone is who they are outside. Only a process outside of the namespace may say so."""
    for name in ("uid_map", "gid_map"):
        Path(f"/proc/{process}/{name}").write_text("0 0 4294967295\n")


def enter_namespaces() -> None:
    process, (heard, said) = os.getpid(), os.pipe()
    mapper = os.fork()
    if mapper == 0:
        os.read(heard, 1)
        map_users(process)
        os._exit(0)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(NEW_USER | NEW_MOUNTS) != 0:
        raise OSError(ctypes.get_errno(), "unshare: no namespaces of its own")
    os.write(said, b"x")
    if os.waitpid(mapper, 0)[1] != 0:
        raise OSError("the users of the namespace cannot be mapped")


def register(emulator: str) -> None:
    subprocess.run(["mount", "-t", "binfmt_misc", "binfmt_misc", TABLE], check=True)
    # F: the emulator is opened now, since the root does not have it.
    (TABLE / "register").write_text(f":km:M::{escaped(MAGIC)}:{escaped(MASK)}:{emulator}:F")


def main() -> None:
    emulator, root, *words = sys.argv[1:]
    enter_namespaces()
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    register(emulator)
    for name in ("proc", "dev"):
        subprocess.run(["mount", "--rbind", f"/{name}", f"{root}/{name}"], check=True)
    os.chroot(root)
    os.chdir("/")
    os.execvp(words[0], words)


def run_emulated(root: Path, *words, **settings):
    """A program of the root. What it mounts goes with it."""
    return subprocess.run([sys.executable, __file__, EMULATOR, root,
                           *[str(word) for word in words]], text=True, check=False,
                          env={**environment_inside(), **settings}, capture_output=True)


def make_emulated_root() -> Path:
    """Debian 12 as its image for containers has it. It is made once."""
    root = ROOTS / "bookworm-arm64"
    if (root / "complete").exists():
        return root
    shutil.rmtree(root, ignore_errors=True)
    ROOTS.mkdir(parents=True, exist_ok=True)
    subprocess.run(["debootstrap", "--arch=arm64", "--foreign", "--variant=minbase", "bookworm",
                    root, MIRROR], stdout=subprocess.DEVNULL, check=True)
    # In a container of that kind debootstrap makes no devices, which are there already.
    done = run_emulated(root, "/debootstrap/debootstrap", "--second-stage", container="lxc")
    if done.returncode != 0:
        raise AssertionError(f"debootstrap: {done.stdout}{done.stderr}")
    (root / "complete").touch()
    return root


class EmulatedRoot:
    """A copy of the root."""

    def __init__(self, folder: Path):
        self.path = folder / "arm64"
        subprocess.run(["cp", "-a", make_emulated_root(), self.path], check=True)
        copy_network_files(self.path)

    def run(self, *words, **settings):
        return run_emulated(self.path, *words, **settings)


if __name__ == "__main__":
    main()
