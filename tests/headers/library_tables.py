#!/usr/bin/env python3
"""Compares the committed tables of NVIDIA's libraries with headers of any version:
library_tables.py FOLDER...; folders of KM_NVIDIA_INCLUDE are taken too.

A function or number that a header and our table both have must be the same in both, since one
library of ours serves programs of all versions. The header or the table may lack others: gen.fresh
compares the newest header in full.
"""

import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "gen"))
from cuda import library_tables  # noqa: E402


def without_name(declaration: str, name: str) -> str:
    return re.sub(rf"\b{name}\b", "", declaration).strip()


def committed_functions(library) -> dict:
    """{symbol: (result, types of parameters)}."""
    if not library.functions_file:
        return {}
    text = (ROOT / library.path(library.functions_file)).read_text()
    rows = re.findall(r"^KM_\w+_FUNCTION\((\w+), ([^(]+), \((.*)\), \(([^()]*)\)\)$", text, re.M)
    return {symbol: (result, [without_name(each, name) for each, name in
                              zip(library_tables.split(declared), passed.split(", "))])
            for symbol, result, declared, passed in rows}  # fmt: skip


def numbers(text: str) -> dict:
    """The enumerators that have a number or expression of their own."""
    return {name: value.strip() for name, value in re.findall(r"\b([A-Z]\w+)\s*=\s*([^,}]+)", text)}


def problems(library) -> list:
    found = library_tables.read(library.name)
    if found is None:
        return []
    _, text, functions = found
    ours = committed_functions(library)
    differing = []
    for symbol, (result, parameters) in functions.items():
        theirs = (result, [without_name(each, name) for each, name in parameters])
        if symbol in ours and ours[symbol] != theirs:
            differing.append(f"{symbol}: the header has {theirs}, our table {ours[symbol]}")
    table = numbers((ROOT / library.path(library.api_file)).read_text())
    for body in library_tables.enums(text).values():
        for name, value in numbers(body).items():
            if table.get(name, value) != value:
                differing.append(f"{name}: the header has {value}, our table {table[name]}")
    return differing


def main() -> int:
    os.environ["KM_NVRTC"] = os.devnull  # nothing but the folders that are given
    folders = sys.argv[1:] + os.environ.get("KM_NVIDIA_INCLUDE", "").split(":")
    found = []
    for folder in filter(None, folders):
        os.environ["KM_NVIDIA_INCLUDE"] = folder
        library_tables.read.cache_clear()
        for library in library_tables.LIBRARIES:
            found += [f"{folder}: {each}" for each in problems(library)]
    print(*found, sep="\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
