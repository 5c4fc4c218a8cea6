"""The steps that readers of the bindings' sources have in common."""

import re
from collections.abc import Callable


def end_of(text: str, start: int) -> int:
    """The place after the brace that closes the one before `start`."""
    depth = 1
    for match in re.compile(r"[{}]").finditer(text, start):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.end()
    raise SystemExit(f"gen: the brace before {text[start:start + 60]!r} is not closed")


def nearest_public(items: list, level: list, calls: Callable) -> list:
    """Titles of the public items of `level`; if it has none, of those that call it by the shortest
    way, as calls(caller, item) says."""
    seen: list = []
    while level:
        titles = sorted({item.title for item in level if item.is_public})
        if titles:
            return titles
        seen += level
        callers = [item for item in items if any(calls(item, other) for other in level)]
        level = [item for item in callers if not any(item is known for known in seen)]
    return []
