#!/usr/bin/env python3
"""Compares our tables of CUDA's numbers with NVIDIA's header: cuda_enums.py CUDA_H...

Each number of the header must stand in our table under one of the header's names for it. What an
older header lacks is fine: our tables are those of the newest.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# (our table, its rows, the enumeration in the header, the prefix of its names)
TABLES = [
    ("src/base/cuda/cuda_results.def", r"^KM_CUDA_RESULT\((\d+), (\w+),", "cudaError_enum", ""),
    ("src/backend/device_attributes.def", r"^KM_DEVICE_ATTRIBUTE_ROW\((\d+), (\w+),",
     "CUdevice_attribute_enum", "CU_DEVICE_ATTRIBUTE_"),
]


def enumerators(header: str, enum: str) -> list:
    body = re.search(rf"typedef enum {enum} \{{(.*?)\n\}}", header, re.S)
    text = re.sub(r"/\*.*?\*/", "", body[1], flags=re.S) if body else ""
    return [(int(n), name) for name, n in re.findall(r"(\w+)\s*=\s*(\d+)", text)]


def problems(path: Path) -> list:
    header = path.read_text(errors="replace")
    found = []
    for table, pattern, enum, prefix in TABLES:
        rows = {int(n): prefix + name
                for n, name in re.findall(pattern, (ROOT / table).read_text(), re.M)}
        known = enumerators(header, enum)
        if not known or not rows:
            found.append(f"cannot read {enum} of {path}, or {table}")
        for number in sorted({n for n, _ in known}):
            names = [name for n, name in known if n == number]
            if number not in rows:
                found.append(f"{table} lacks {number}, {names[0]}")
            elif rows[number] not in names:
                found.append(f"{table} calls {number} {rows[number]}; CUDA calls it {names}")
    return found


def main() -> int:
    found = [text for path in sys.argv[1:] for text in problems(Path(path))]
    print(*found, sep="\n")
    return 1 if found or len(sys.argv) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
