"""The files of the checkout, and where each kind of file lies. Rules are in rules_*.py."""

import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from source import Source

CODE = {".c", ".cpp", ".h", ".hpp", ".cu"}
SCRIPTS = {".py", ".sh", ".cmake"}
TABLES = {".def", ".inc", ".map", ".S"}
BINARY = {".xz", ".tar", ".png", ".npy", ".gz", ".ico", ".bin"}


@dataclass
class Finding:
    rule: str
    path: str
    line: int
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.text} [{self.rule}]"


@dataclass
class File:
    root: Path
    path: str  # below the root, with slashes

    @property
    def suffix(self) -> str:
        return Path(self.path).suffix

    @property
    def name(self) -> str:
        return Path(self.path).name

    @property
    def is_binary(self) -> bool:
        return self.suffix in BINARY

    @property
    def is_code(self) -> bool:
        return self.suffix in CODE

    @property
    def is_generated(self) -> bool:
        return "/generated/" in "/" + self.path

    @property
    def is_data(self) -> bool:
        return self.path.startswith("tests/data/") or self.suffix in (".ptx", ".abi")

    @cached_property
    def bytes(self) -> bytes:
        return (self.root / self.path).read_bytes()

    @cached_property
    def text(self) -> str:
        return self.bytes.decode(errors="replace")

    @cached_property
    def lines(self) -> list:
        return self.text.split("\n")

    @cached_property
    def source(self) -> Source:
        return Source(self.text)

    def allows(self, rule: str, line: int) -> bool:
        """`tidy: RULE: reason` on the line or the one above lets a finding pass."""
        around = self.lines[max(0, line - 2) : line]
        return any(re.search(rf"\btidy: {rule}: \S", text) for text in around)

    def find(self, rule: str, pattern: str, text: str, flags=0) -> list:
        """A finding for each match of the pattern in code (comments and strings left out)."""
        code = self.source.code if self.is_code else self.text
        found = []
        for match in re.finditer(pattern, code, flags):
            line = code.count("\n", 0, match.start()) + 1
            found.append(Finding(rule, self.path, line, text % match[0].strip()))
        return found


def list_paths(root: Path) -> list:
    """What git knows: logs and drafts that lie about do not count. Without git, all files."""
    if (root / ".git").exists():
        git = ["git", "-C", str(root), "ls-files", "-z", "--cached"]
        try:
            out = subprocess.run(git, capture_output=True, text=True, check=True).stdout
            return sorted(set(out.split("\0")) - {""})
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"tidy: looks at all files, because git does not list them: {error}",
                  file=sys.stderr)
    skip = ("build/", ".deps/", ".git/")
    found = (p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file())
    return sorted(p for p in found if not p.startswith(skip) and "__pycache__" not in p)


def read_tree(root: Path) -> list:
    files = [File(root, path) for path in list_paths(root)]
    return [f for f in files if (root / f.path).is_file()]
