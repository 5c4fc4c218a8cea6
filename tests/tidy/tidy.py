#!/usr/bin/env python3
"""Checks the shape of the house: tidy.py [--root DIR] [--compile-commands FILE].

Prints one line per finding and ends with 1 if there are any. A line passes a rule when it, or the
line above it, says `tidy: RULE: reason`.
"""

import argparse
import sys
from pathlib import Path

import rules_architecture
import rules_code
import rules_comments
import rules_docs
import rules_text
import rules_tree
from tree import read_tree


def check(root: Path, commands=None) -> list:
    files = read_tree(root)
    by_path = {file.path: file for file in files}
    found = rules_text.run(files) + rules_code.run(files) + rules_docs.run(files)
    found += rules_architecture.run(files) + rules_comments.run(files)
    found += rules_tree.run(files, root, commands)
    found = [f for f in found if not by_path[f.path].allows(f.rule, f.line)]
    return sorted(found, key=lambda f: (f.path, f.line, f.rule))


def main() -> int:
    root = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description="checks the shape of the sources")
    parser.add_argument("--root", type=Path, default=root)
    parser.add_argument("--compile-commands", type=Path)
    options = parser.parse_args()
    found = check(options.root.resolve(), options.compile_commands)
    for finding in found:
        print(finding)
    if found:
        print(f"tidy: {len(found)} findings", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
