"""The archive that may be unpacked anywhere: kernelmill-VERSION-linux-x86_64.tar.xz."""

import lzma
from pathlib import Path

from tree import Tree, tar_bytes


def make_archive(tree: Tree, version: str, output: Path) -> Path:
    name = f"kernelmill-{version}-linux-x86_64"
    path = output / f"{name}.tar.xz"
    path.write_bytes(lzma.compress(tar_bytes(tree, f"{name}/"), preset=3))
    return path
