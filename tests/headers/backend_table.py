#!/usr/bin/env python3
"""Compares docs/internals/backend-interface.md with the entries of src/backend/interface.h.

Each entry has one row, in the order of the table, which names functions of the CUDA driver or says
that there is none.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENTRY = re.compile(r"^  (?:km_status|km_check_flags|void|const char\*) \(\*(\w+)\)\(", re.M)
ROW = re.compile(r"^\| `(\w+)` \| ([^|]*) \|[^|]*\|$", re.M)


def main() -> int:
    header = (ROOT / "src/backend/interface.h").read_text()
    table = header[header.index("typedef struct kmb_backend {") :]
    entries = ENTRY.findall(table[: table.index("} kmb_backend;")])
    rows = dict(ROW.findall((ROOT / "docs/internals/backend-interface.md").read_text()))
    found = [f"no row for {entry}" for entry in entries if entry not in rows]
    found += [f"{row} is no entry" for row in rows if row not in entries]
    if not found and list(rows) != entries:
        found.append("the rows are in another order than the entries")
    for row, functions in rows.items():
        if not re.search(r"`cu[A-Z]\w+`|\bnone\b", functions):
            found.append(f"{row} names no function of the driver")
    if len(entries) < 50:
        found.append("cannot read src/backend/interface.h")
    print(*found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
