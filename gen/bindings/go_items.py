"""Reads a Go package for its exported functions and the functions of the raw layer that they use.

A use in a private function counts for the exported functions that call it.
"""

import re
from pathlib import Path

HEAD = re.compile(
    r"^func (?:\(\w*\s*\*?(?P<owner>\w+)(?:\[[^\]]*\])?\) )?(?P<name>\w+)(?P<rest>.*)$"
)
TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|`[^`]*`", re.S)
RAW = re.compile(r"\braw\.K(m_\w+)\b")
USE = re.compile(r"(\.)?\b([A-Za-z_]\w*)\b")


class Item:
    """One function of a Go file."""

    def __init__(self, owner: str, name: str, body: str):
        self.owner, self.name, self.body = owner, name, body
        self.title = f"{owner}.{name}" if owner else name
        self.is_public = name[0].isupper() and (not owner or owner[0].isupper())
        self.raw = {"k" + raw for raw in RAW.findall(body)}
        self.uses = {(bool(dot), word) for dot, word in USE.findall(body)}


def items_of(text: str) -> list:
    """The functions of a file, each up to its closing brace at the beginning of a line."""
    lines = TOKEN.sub(lambda match: '""' if match[0][0] in '"`' else "", text).split("\n")
    found, at = [], 0
    while at < len(lines):
        head = HEAD.match(lines[at])
        at += 1
        if not head:
            continue
        body = [head["rest"]]
        if not head["rest"].rstrip().endswith("}"):
            while at < len(lines) and lines[at] != "}":
                body.append(lines[at])
                at += 1
        found.append(Item(head["owner"] or "", head["name"], "\n".join(body)))
    return found


class Package:
    """All functions of a package, except those of its tests."""

    def __init__(self, folder: Path):
        self.items = []
        for path in sorted(folder.glob("*.go")):
            if not path.name.endswith("_test.go"):
                self.items += items_of(path.read_text())

    def callers(self, item: Item) -> list:
        use = (bool(item.owner), item.name)
        return [other for other in self.items if other is not item and use in other.uses]

    def users_of(self, function: str) -> list:
        """The exported functions that use a function of the raw layer, directly or by private
        functions.
        """
        reached = [item for item in self.items if function in item.raw]
        for item in reached:
            if not item.is_public:
                reached += [other for other in self.callers(item) if other not in reached]
        return sorted({item.title for item in reached if item.is_public})
