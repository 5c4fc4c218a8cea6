"""Reads the sources of the Zig module for its public functions and the names that they use.

A function at the top of a file belongs to the type of its first parameter, which has it as a method
by an alias. A use in a private function counts for the public functions of the file that call it.
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from bindings.source_items import end_of, nearest_public

TOKEN = re.compile(r"//[^\n]*|\\\\[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'")
HEAD = re.compile(
    r"(?P<public>\bpub\s+)?(?:"
    r"const\s+(?P<type>[A-Z]\w*)\s*=\s*(?:extern\s+|packed\s+)?(?:struct|enum|union)\b[^{;]*"
    r"|(?:export\s+|inline\s+)?fn\s+(?P<fn>\w+)\s*"
    r"\((?P<parameters>(?:[^(){}]|\((?:[^()]|\([^()]*\))*\))*)\)"
    r"(?P<result>(?:error\s*\{[^}]*\}|[^{;])*))\{"
)
# Parameters of these types are the object that the function is a method of.
METHODS = {"S": "Slice"}


@dataclass
class Item:
    """One function of the module."""

    owner: str  # the type that it belongs to; empty: none
    name: str
    is_public: bool
    body: str
    path: Path

    @property
    def title(self) -> str:
        return f"{self.owner}.{self.name}" if self.owner else self.name


def without_comments(text: str) -> str:
    """Replaces comments and string contents by blanks; lines stay."""
    return TOKEN.sub(lambda m: '""' if m[0][0] in "\"'" else "", text)


def owner_of(parameters: str, types: set) -> str:
    """The type of the first parameter, if it is one with methods."""
    first = re.match(r"\s*\w+\s*:\s*(\w+)\s*(?:,|$)", parameters)
    kind = METHODS.get(first[1], first[1]) if first else ""
    return kind if kind in types else ""


def items_of(text: str, path: Path, types: set, owner: str = "") -> list:
    """All functions of a text, including those inside of types and of functions that make types."""
    found, place = [], 0
    while match := HEAD.search(text, place):
        end = end_of(text, match.end())
        body = text[match.end() : end - 1]
        place = end
        if match["type"]:
            found += items_of(body, path, types, match["type"])
        elif match["result"].strip() == "type":
            inner = items_of(body, path, types, METHODS.get(match["fn"], match["fn"]))
            is_known = match["fn"] in types or match["fn"] == "Methods"
            found += inner if is_known else [replace(item, is_public=False) for item in inner]
        else:
            kind = owner if owner in types else owner_of(match["parameters"], types)
            kind = kind or ("" if owner == "Methods" else owner)
            found.append(Item(kind, match["fn"], bool(match["public"]), body, path))
    return found


class Module:
    """All functions of the module, with the callers of those that are not public."""

    def __init__(self, folder: Path):
        texts = {path: without_comments(path.read_text())
                 for path in sorted(folder.rglob("*.zig")) if path.parent.name != "facade"}
        public = re.findall(r"^pub const ([A-Z]\w*) =", texts[folder / "root.zig"], re.M)
        self.items = [item for path, text in texts.items()
                      for item in items_of(text, path, set(public))]

    def users_of(self, name: str) -> list:
        """Titles of the public functions that use a name, by the shortest chain of calls."""
        word = re.compile(rf"\b{name}\b")
        level = [item for item in self.items if word.search(item.body)]
        return nearest_public(self.items, level, calls)


def calls(caller: Item, item: Item) -> bool:
    """True if one function uses another of its file, as far as its text shows."""
    return caller.path == item.path and bool(re.search(rf"\b{item.name}\s*\(", caller.body))
