#!/usr/bin/env python3
"""One set of functions everywhere: symbols.py --library LIBRARY.

What the library exports, what the header declares, and what the raw layer of each binding has must
be the same. Zig's raw layer is translated from the header, as a whole, at every build.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "gen"))

from c import c_header  # noqa: E402


def header() -> set:
    return {function.name for function in c_header.functions(c_header.text())}


def exported(library: Path) -> set:
    command = ["nm", "--dynamic", "--defined-only", "--extern-only", library]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    names = (line.split()[-1].split("@")[0] for line in listed.splitlines())
    return {name for name in names if name.startswith("km_")}


def found(path: str, pattern: str) -> set:
    return set(re.findall(pattern, (ROOT / path).read_text(), re.M))


def rust() -> set:
    return found("bindings/rust/kernelmill-sys/src/generated/bindings.rs", r"pub fn (km_\w+)\(")


def go() -> set:
    names = found("bindings/go/internal/raw/generated/raw.go", r"^func Km_(\w+)\(")
    return {f"km_{name}" for name in names}


def zig() -> set:
    """The functions of the header, if the raw layer takes all of it and translates it anew."""
    includes = found("bindings/zig/src/c.h", r'^#include [<"](.*c_api\.h)[>"]')
    is_translated = found("bindings/zig/build.zig", r"(addTranslateC)\(")
    return header() if includes and is_translated else set()


def python() -> set:
    return found("bindings/python/kernelmill/generated/abi.py", r'^    "(km_\w+)": \(')


def compare(what: str, names: set, expected: set) -> bool:
    for name in sorted(expected - names):
        print(f"{what}: lacks {name}")
    for name in sorted(names - expected):
        print(f"{what}: has {name}, which the header does not declare")
    return names == expected


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", type=Path, required=True)
    options = parser.parse_args()
    expected = header()
    if not expected:
        print("the header has no functions")
        return 1
    sets = {
        "library": exported(options.library),
        "Rust": rust(),
        "Go": go(),
        "Zig": zig(),
        "Python": python(),
    }
    same = [compare(what, names, expected) for what, names in sets.items()]
    if all(same):
        print(f"{len(expected)} functions in the header, the library, and four raw layers")
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main())
