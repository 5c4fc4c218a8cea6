"""Reads the C++ headers for the public items of kernelmill.hpp and the C ABI functions that they
use.

A use in a private or detail function counts for the public items that call it.
"""

import re
from dataclasses import dataclass

from bindings.source_items import end_of

TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'", re.S)
SCOPE = re.compile(r"\b(?:inline\s+)?namespace\s+(?P<space>[\w:]+)\s*\{"
                   r"|\b(?:class|struct)\s+(?:\[\[\w+\]\]\s+)?(?P<type>\w+)(?:<[^;{]*>)?"
                   r"(?:\s*:\s*(?P<bases>[^;{]*))?\s*\{")
ACCESS = re.compile(r"\b(public|private|protected):(?!:)")
OWNER = re.compile(r"using any_(\w+) = object<\w+, (\w+)>")
# Classes that are instantiated under several names: their functions are called on these.
TITLES = {"memory": "slice", "elements": "slice", "library": "", "tune": "tuner"}


@dataclass
class Item:
    """One function of a header."""

    owner: str  # the class that it belongs to; empty: none
    name: str
    is_public: bool
    head: str
    body: str

    @property
    def title(self) -> str:
        owner = TITLES.get(self.owner, self.owner.removeprefix("basic_"))
        name = owner if self.name == self.owner else self.name
        return f"{owner}::{name}" if owner else name


def without_comments(text: str) -> str:
    """Replaces comments, string contents, preprocessor lines and `= {}` by blanks."""
    text = re.sub(r"^[ \t]*#.*?(?<!\\)$", "", text, flags=re.M)
    text = TOKEN.sub(lambda match: '""' if match[0][0] in "\"'" else " ", text)
    return re.sub(r"=\s*\{\}", "", text)


def function_name(head: str):
    """The pair (class, name) for a head such as `template <class P> int basic_x<P>::f(..) const`.
    """
    while match := re.match(r"\s*template\s*<", head):
        depth, end = 1, match.end()
        while depth and end < len(head):
            depth += {"<": 1, ">": -1}.get(head[end], 0)
            end += 1
        head = head[end:]
    match = re.search(r"(?:(\w+)(?:<[\w, ]*>)?::)?(operator [\w]+|~?\w+)\s*\(", head)
    return (match[1] or "", match[2]) if match else ("", "")


class Headers:
    """All functions of several headers."""

    def __init__(self, paths):
        self.items: list = []
        self.owners: dict = {}  # destroy function -> the class whose objects it destroys
        for path in paths:
            text = without_comments(path.read_text())
            for name, function in OWNER.findall(text):
                self.owners[function] = f"drop of {TITLES.get(name, name)}"
            self.scan(text, [], "", True)

    def scan(self, text: str, spaces: list, owner: str, is_public: bool) -> None:
        """Reads the functions of a namespace or class."""
        start = place = 0
        while (brace := text.find("{", place)) >= 0:
            end = end_of(text, brace + 1)
            cut = max(text.rfind(";", start, brace), text.rfind("}", start, brace), start - 1) + 1
            for access in ACCESS.finditer(text, start, brace):
                is_public = access[1] == "public"
                cut = max(cut, access.end())
            head = text[cut:brace]
            inner = text[brace + 1 : end - 1]
            scope = SCOPE.search(head + "{")
            if scope and scope["space"]:
                self.scan(inner, [*spaces, scope["space"]], "", True)
            elif scope and "(" not in head[: scope.start()]:
                hidden = [] if is_public else ["detail"]
                self.scan(inner, spaces + hidden, scope["type"], "struct" in head)
            else:
                self.add(head, inner, spaces, owner, is_public)
            start = place = end

    def add(self, head: str, body: str, spaces: list, owner: str, is_public: bool) -> None:
        scope, name = function_name(head)
        if not name:
            return
        is_detail = "detail" in spaces and owner not in TITLES
        if not owner and scope and scope.startswith("basic_"):
            owner = scope
        if not owner and "raw" in spaces:
            owner = "raw"
        self.items.append(Item(owner, name, is_public and not is_detail, head, body))

    def users_of(self, function: str) -> list:
        """Titles of the public items that use a function of the C ABI, in the headers' order."""
        if function in self.owners:
            return [self.owners[function]]
        found, seen = [], set()
        waiting = [(re.compile(rf"\b{function}\b"), "")]
        while waiting:
            pattern, owner = waiting.pop(0)
            for item in self.items:
                if id(item) in seen or not pattern.search(item.head + item.body):
                    continue
                if owner and item.owner != owner:
                    continue
                seen.add(id(item))
                if item.is_public:
                    found.append(item.title)
                else:
                    call = re.compile(rf"(?<![.\w]){item.name}(?:<\w*>)?\(")
                    waiting.append((call, item.owner))
        return list(dict.fromkeys(found))
