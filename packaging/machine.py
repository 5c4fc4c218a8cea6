"""The architecture that a tree was built for: its names, and where parts of it come from.

Packages for this machine's architecture take Debian's packages that are installed here; those for
another one take what `scripts/setup.sh arm64` has put into .deps.
"""

import platform
import re
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tree import ROOT, Tree

OLDEST_GLIBC = (2, 28)


@dataclass(frozen=True)
class Machine:
    """An architecture by the names that Linux and Debian have for it."""

    system: str  # also Python's and Rust's
    debian: str

    @property
    def triplet(self) -> str:
        return f"{self.system}-linux-gnu"

    @property
    def is_here(self) -> bool:
        return platform.machine() == self.system

    @property
    def root(self) -> Path:
        """The folder that Debian's packages of this architecture are in."""
        return Path("/") if self.is_here else ROOT / ".deps" / self.debian / "root"

    @property
    def compiler(self) -> list:
        """The words of a command that links shared libraries."""
        return ["cc", "-fuse-ld=bfd"] if self.is_here else \
            ["clang-19", f"--target={self.triplet}", "-fuse-ld=lld"]

    def debian_version(self, package: str) -> str:
        if self.is_here:
            done = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package],
                                  capture_output=True, text=True, check=False)
            if done.returncode == 0:
                return done.stdout
            raise SystemExit(f"packages: {package} is not installed: {done.stderr.strip()}")
        listed = self.root.parent / "packages.txt"
        lines = listed.read_text().splitlines() if listed.exists() else []
        versions = dict(line.split(" ") for line in lines)
        if package not in versions:
            raise SystemExit(f"packages: {listed} has no {package}: run scripts/setup.sh "
                             f"{self.debian}")
        return versions[package]


MACHINES = {62: Machine("x86_64", "amd64"), 183: Machine("aarch64", "arm64")}  # by e_machine of ELF


def machine_of(tree: Tree) -> Machine:
    """That of the library in an installed tree."""
    libraries = [entry.data for path, entry in tree.items()
                 if re.fullmatch(r"lib/libkernelmill\.so\.[\d.]+", path) and not entry.target]
    if len(libraries) != 1 or libraries[0][:4] != b"\x7fELF":
        raise SystemExit("packages: the installed tree has no lib/libkernelmill.so.VERSION")
    number = struct.unpack_from("<H", libraries[0], 18)[0]
    if number not in MACHINES:
        raise SystemExit(f"packages: libkernelmill.so is for the ELF machine {number}: none of "
                         f"{sorted(MACHINES)}")
    return MACHINES[number]


def glibc_of(tree: Tree) -> tuple:
    """The oldest glibc, of those that releases are for, with the symbols of the tree's programs."""
    needed = {OLDEST_GLIBC}
    for entry in tree.values():
        if entry.data[:4] == b"\x7fELF":
            named = re.findall(rb"\0GLIBC_(\d+)\.(\d+)(?=[.\0])", entry.data)
            needed |= {(int(major), int(minor)) for major, minor in named}
    return max(needed)
