"""The code that the readers of the bindings' sources share."""

import re
from collections.abc import Callable


def end_of(text: str, start: int) -> int:
    """The position after the brace that closes the one before `start`."""
    depth = 1
    for match in re.compile(r"[{}]").finditer(text, start):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.end()
    raise SystemExit(f"gen: the brace before {text[start:start + 60]!r} is not closed")


def nearest_public(items: list, level: list, calls: Callable) -> list:
    """Titles of the public items of `level`; if there are none, of its nearest public callers.

    calls(caller, item) tells whether one function calls another.
    """
    seen: list = []
    while level:
        titles = sorted({item.title for item in level if item.is_public})
        if titles:
            return titles
        seen += level
        callers = [item for item in items if any(calls(item, other) for other in level)]
        level = [item for item in callers if not any(item is known for known in seen)]
    return []
