"""The archive that may be unpacked anywhere: kernelmill-VERSION-linux-ARCHITECTURE.tar.xz."""

import lzma
from pathlib import Path

from machine import Machine
from tree import Tree, tar_bytes


def make_archive(tree: Tree, version: str, machine: Machine, output: Path) -> Path:
    name = f"kernelmill-{version}-linux-{machine.system}"
    path = output / f"{name}.tar.xz"
    path.write_bytes(lzma.compress(tar_bytes(tree, f"{name}/"), preset=3))
    return path
