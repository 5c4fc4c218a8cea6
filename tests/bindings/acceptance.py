#!/usr/bin/env python3
"""Each row of tests/acceptance.tsv names a test that is there.

    acceptance.py

A row is an item of the source documents (C12), the file of a test, and the test's name in it, with
tabs between them. An item may have several rows; no row is there twice.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "tests/acceptance.tsv"
ITEM = re.compile(r"[ACGI]\d+")


def problem_of(line: str, seen: set) -> str:
    """The fault of a row, or nothing."""
    fields = line.split("\t")
    if len(fields) != 3 or not all(fields):
        return "is not an item, a file and a name with tabs between them"
    item, file, name = fields
    if not ITEM.fullmatch(item):
        return f"names no item: {item}"
    if line in seen:
        return "is there twice"
    seen.add(line)
    path = ROOT / file
    if not path.is_file():
        return f"names no file: {file}"
    if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", path.read_text(errors="replace")):
        return f"names no test of {file}: {name}"
    return ""


def main() -> int:
    seen: set = set()
    found = 0
    for number, line in enumerate(TABLE.read_text().splitlines(), 1):
        problem = problem_of(line, seen)
        if problem:
            print(f"tests/acceptance.tsv:{number}: the row {problem}")
            found += 1
    items = {line.split("\t")[0] for line in seen}
    print(f"acceptance: {len(items)} items, {len(seen)} tests, {found} findings")
    return 1 if found or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
