"""Files on their way into a package: gathered once, written the same way each time."""

import functools
import hashlib
import io
import os
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Entry:
    """A file or, if `target` is set, a symbolic link."""

    data: bytes = b""
    mode: int = 0o644
    target: str = ""


class Tree(dict):
    """Path below the root of a package -> Entry."""

    def add(self, path: str, data, mode: int = 0o644) -> None:
        self[path] = Entry(data.encode() if isinstance(data, str) else data, mode)

    def link(self, path: str, target: str) -> None:
        self[path] = Entry(target=target, mode=0o777)

    def below(self, *prefixes: str) -> "Tree":
        return Tree({p: e for p, e in self.items() if p.startswith(prefixes)})

    def moved(self, old: str, new: str) -> "Tree":
        """With `old` at the front of each path replaced; paths that lack it stay."""
        return Tree({new + p[len(old):] if p.startswith(old) else p: e for p, e in self.items()})

    def size_bytes(self) -> int:
        return sum(len(entry.data) for entry in self.values())


def read_tree(folder: Path) -> Tree:
    tree = Tree()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            tree.link(name, os.readlink(path))
        elif path.is_file():
            tree.add(name, path.read_bytes(), 0o755 if path.stat().st_mode & 0o100 else 0o644)
    return tree


@functools.cache
def time_s() -> int:
    """The time that everything in a package carries: SOURCE_DATE_EPOCH, or the last commit's."""
    named = os.environ.get("SOURCE_DATE_EPOCH")
    if named:
        return int(named)
    done = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True,
                          text=True, check=True)
    return int(done.stdout)


def tar_bytes(tree: Tree, prefix: str) -> bytes:
    """An uncompressed archive: sorted, owned by root, with the folders above each file."""
    data = io.BytesIO()
    folders = set()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path in sorted(tree):
            name = prefix + path
            for parent in reversed(Path(name).parents[:-1]):
                if parent.as_posix() not in folders:
                    folders.add(parent.as_posix())
                    archive.addfile(_header(parent.as_posix(), 0o755, tarfile.DIRTYPE))
            entry = tree[path]
            if entry.target:
                header = _header(name, entry.mode, tarfile.SYMTYPE)
                header.linkname = entry.target
                archive.addfile(header)
            else:
                header = _header(name, entry.mode, tarfile.REGTYPE)
                header.size = len(entry.data)
                archive.addfile(header, io.BytesIO(entry.data))
    return data.getvalue()


def _header(name: str, mode: int, kind: bytes) -> tarfile.TarInfo:
    header = tarfile.TarInfo(name)
    header.mode, header.type, header.mtime = mode, kind, time_s()
    header.uname = header.gname = "root"
    return header


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
