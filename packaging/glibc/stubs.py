#!/usr/bin/env python3
"""Makes the folder of linker stubs of an older glibc: stubs.py ZIG ARCHITECTURE VERSION FOLDER.

Zig ships the symbol tables of every glibc and writes empty shared libraries from them, with the
start files of that version. A link that finds this folder first needs no newer symbol.
STRIP and AR of the environment, which know the architecture, are used if they are set.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Names of the program that loads others.
LOADERS = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}
# Zig's name of each stub, and the name that programs load; the loader's is the architecture's.
LIBRARIES = {
    "libc.so.6": "libc.so.6",
    "libm.so.6": "libm.so.6",
    "libpthread.so.0": "libpthread.so.0",
    "libdl.so.2": "libdl.so.2",
    "librt.so.1": "librt.so.1",
    "libutil.so.1": "libutil.so.1",
    "libresolv.so.2": "libresolv.so.2",
    "libld.so.2": None,
}
# Since glibc 2.34 these are parts of libc, and nobody names them to the linker any more.
SCRIPT = (
    "GROUP ( libc.so.6 libc_nonshared.a AS_NEEDED ( libpthread.so.0 libdl.so.2 librt.so.1"
    " {loader} ) )\n"
)


def linked_files(zig: str, target: str, work: Path) -> list:
    """The files that Zig gives its linker for a C program of that target."""
    source = work / "main.c"
    source.write_text("int main(void) { return 0; }\n")
    command = [zig, "build-exe", str(source), "-target", target, "-lc",
               "-fPIE", "--verbose-link", f"-femit-bin={work}/main",
               "--global-cache-dir", str(work / "global"), "--cache-dir", str(work / "local")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=work, check=False)
    if done.returncode != 0:
        sys.exit(f"stubs.py: {' '.join(command)} failed:\n{done.stderr}")
    links = [line for line in done.stderr.splitlines() if "libc.so.6" in line]
    if not links:
        sys.exit(f"stubs.py: zig shows no link of libc.so.6:\n{done.stderr}")
    return [work / word for word in re.split(r"\s+", links[-1])]


def start_files(work: Path, folder: Path) -> None:
    """crt1.o runs constructors as that glibc does; crti.o and crtn.o are empty with it."""
    found = sorted((work / "global" / "o").glob("*/Scrt1.o"))
    if len(found) != 1:
        sys.exit(f"stubs.py: {len(found)} files Scrt1.o, not one")
    for name in ("crt1.o", "Scrt1.o"):
        shutil.copyfile(found[0], folder / name)
        strip(folder / name)


def program(name: str) -> str:
    """STRIP or AR: what the environment has it be, or the system's."""
    return os.environ.get(name) or name.lower()


def strip(path: Path) -> None:
    """Leaves out what only debuggers need: Zig's folder and temporary ones would be in the identity
    that the linker gives to a program, of its contents before they are stripped."""
    subprocess.run([program("STRIP"), "--strip-debug", path], check=True)


def write_archive(found: Path, work: Path, written: Path) -> None:
    """Zig's archive names its members by their paths below `work`, where they still lie."""
    listed = subprocess.run([program("AR"), "t", found], capture_output=True, text=True, check=True)
    members = [work / line for line in listed.stdout.splitlines()]
    for member in members:
        strip(member)
    subprocess.run([program("AR"), "qcsD", written, *members], check=True)


def main() -> int:
    if len(sys.argv) != 5 or sys.argv[2] not in LOADERS:
        sys.exit(__doc__)
    zig, architecture, version, folder = *sys.argv[1:4], Path(sys.argv[4])
    loader = LOADERS[architecture]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        files = {path.name: path for path in
                 linked_files(zig, f"{architecture}-linux-gnu.{version}", work)}
        for ours, theirs in LIBRARIES.items():
            if ours not in files:
                sys.exit(f"stubs.py: zig makes no {ours} for glibc {version}")
            shutil.copyfile(files[ours], folder / (theirs or loader))
        write_archive(files["libc_nonshared.a"], work, folder / "libc_nonshared.a")
        start_files(work, folder)
    for name in filter(None, LIBRARIES.values()):
        short = name.split(".so")[0]
        if short != "libc":
            (folder / f"{short}.so").symlink_to(name)
    (folder / "libc.so").write_text(SCRIPT.format(loader=loader))
    return 0


if __name__ == "__main__":
    sys.exit(main())
