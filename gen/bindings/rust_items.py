"""Reads the sources of a Rust crate for its public items and the names that they use.

A use in a private function counts for the public items that call it. The arguments of a macro of
the crate count for the function in the macro that uses them.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from bindings.source_items import end_of, nearest_public

TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|r(?P<hashes>#*)\".*?\"(?P=hashes)|b?\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])'",
    re.S,
)
MACRO = re.compile(r"macro_rules!\s*(\w+)\s*\{")
CALL = re.compile(r"^(\w+)!\s*\{", re.M)
HEAD = re.compile(
    r"(?P<attributes>(?:#\[[^\]]*\]\s*)*)(?P<visibility>pub(?:\([\w ]+\))?\s+)?"
    r"(?:default\s+|const\s+|unsafe\s+|extern\s+)*"
    r"(?:impl\b(?P<impl>[^{;]*)|trait\s+(?P<trait>\w+)[^{;]*|mod\s+(?P<mod>\w+)\s*"
    r"|fn\s+(?P<fn>\$?\w+)(?:[^{;\[]|\[[^\]]*\])*)\{"
)
# Folders that re-export the wrappers under other crates' names.
FACADES = ("driver", "nvrtc", "cublas")
DOC_HIDDEN = re.compile(r"doc\s*\(\s*hidden\s*\)")


@dataclass
class Item:
    """One function of the crate."""

    owner: str  # the type or trait that it belongs to; empty: none
    trait: str  # the trait that it implements for its owner; empty: none
    name: str
    is_public: bool
    body: str
    macro: str = ""  # the macro that contains it
    module: str = ""  # the public module that contains it, if it is not the crate itself

    @property
    def title(self) -> str:
        if self.trait == "Drop":
            return f"drop of {self.owner}"
        scope = self.owner or self.module
        return f"{scope}::{self.name}" if scope else self.name


def without_comments(text: str) -> str:
    """Replaces comments and string contents by blanks; lines stay."""
    def blank(match):
        keep = '""' if match[0][0] in "rb\"" else ""
        return keep + "\n" * match[0].count("\n")

    return TOKEN.sub(blank, text)


def plain_type(text: str) -> str:
    """The type in "<'a, T: Pod> DeviceSlice<T> for View<'a, T> where ...", without parameters."""
    text = text.split(" where ")[0]
    while True:
        shorter = re.sub(r"<[^<>]*>", "", text.replace("->", ""))
        if shorter == text:
            break
        text = shorter
    return " ".join(text.split())


def items_of(text: str, owner=("", ""), macro: str = "") -> list:
    """All functions of a text, including nested ones."""
    found, place = [], 0
    while match := HEAD.search(text, place):
        end = end_of(text, match.end())
        body = text[match.end() : end - 1]
        place = end
        if match["fn"]:
            kind, trait = owner
            is_hidden = DOC_HIDDEN.search(match["attributes"] or "")
            is_public = bool((match["visibility"] or "").strip() == "pub" or trait)
            item = Item(kind, trait, match["fn"], is_public and not is_hidden, body, macro)
            found.append(item)
        elif match["mod"]:
            found += items_of(body, owner, macro) if match["mod"] != "sealed" else []
        elif match["trait"]:
            found += items_of(body, (match["trait"], match["trait"]), macro)
        else:
            trait, _, kind = plain_type(match["impl"]).rpartition(" for ")
            found += items_of(body, (kind.split("::")[-1], trait.split("::")[-1]), macro)
    return found


def hidden_methods(text: str) -> set:
    """Methods of public traits that are hidden from the documentation: (trait, name)."""
    method = re.compile(r"((?:#\[[^\]]*\]\s*)*)(?:unsafe\s+)?fn\s+(\w+)")
    found = set()
    for trait in re.finditer(r"pub\s+(?:unsafe\s+)?trait\s+(\w+)[^{;]*\{", text):
        body = text[trait.end() : end_of(text, trait.end())]
        found |= {(trait[1], m[2]) for m in method.finditer(body) if DOC_HIDDEN.search(m[1])}
    return found


class Crate:
    """All functions of a crate, with the callers of those that are not public."""

    def __init__(self, folder: Path):
        self.items: list = []
        self.given: list = []  # (macro, arguments) of each use
        self.hidden: set = set()
        self.traits: set = set()  # public traits
        public = re.findall(r"^pub mod (\w+);", (folder / "lib.rs").read_text(), re.M)
        for path in sorted(folder.rglob("*.rs")):
            if path.relative_to(folder).parts[0] in FACADES:
                continue
            first = path.relative_to(folder).parts[0].removesuffix(".rs")
            self.add(without_comments(path.read_text()), first if first in public else "")
        for item in self.items:
            if item.trait:
                is_known = item.trait in self.traits or item.trait == "Drop"
                item.is_public = is_known and (item.trait, item.name) not in self.hidden

    def add(self, text: str, module: str) -> None:
        self.traits |= set(re.findall(r"pub\s+(?:unsafe\s+)?trait\s+(\w+)", text))
        for match in reversed(list(MACRO.finditer(text))):
            end = end_of(text, match.end())
            self.items += items_of(text[match.end() : end], macro=match[1])
            text = text[: match.start()] + text[end:]
        for match in reversed(list(CALL.finditer(text))):
            end = end_of(text, match.end())
            self.given.append((match[1], text[match.end() : end]))
            text = text[: match.start()] + text[end:]
        self.hidden |= hidden_methods(text)
        found = items_of(text)
        for item in found:
            item.module = module
        self.items += found

    def users_of(self, name: str) -> list:
        """Titles of the public items that use a name, by the shortest chain of calls."""
        word = re.compile(rf"\b{name}\b")
        level = [item for item in self.items if not item.macro and word.search(item.body)]
        titles = []
        for macro, text in self.given:
            if not word.search(text):
                continue
            inside = [item for item in self.items if item.macro == macro and "sys::$" in item.body]
            drops = [item for item in inside if item.trait == "Drop"]
            kind = re.search(r"\b[A-Z]\w*", text)
            if drops and kind:
                titles.append(f"drop of {kind[0]}")
            else:
                level += [item for item in inside if item not in level]
        return titles or nearest_public(self.items, level, calls)


def calls(caller: Item, item: Item) -> bool:
    """True if one function uses another, as far as its text shows."""
    name = re.escape(item.name)
    if not item.owner:
        return re.search(rf"(?<![.\w:])(?:\w+::)*{name}\b(?!::|\s*:)", caller.body) is not None
    ways = [rf"\b{item.owner}(?:::<[^>]*>)?::{name}\b"] if item.owner[0] != "$" else []
    if caller.owner == item.owner:
        ways += [rf"\bSelf::{name}\b", rf"\bself\.{name}\s*\("]
    if item.trait:
        ways.append(rf"\.{name}\s*\(")
    return any(re.search(way, caller.body) for way in ways)
