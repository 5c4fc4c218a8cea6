#!/usr/bin/env python3
"""Checks the subjects of commits: commits.py [--root DIR].

It looks at all commits after the one that brought this file; older ones stay as they are. A
checkout without history (an archive) has nothing to look at, a shallow one what it has.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

MAX_COLUMNS = 72
FORM = re.compile(r"^(?:\[abi\] )?[\w./+-]+(?:[ ,]+[\w./+-]+)*: \S")
SELF = "tests/tidy/commits.py"


def git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True,
                          check=True).stdout


def problem_of(subject: str) -> str:
    """What is wrong with a subject; empty: nothing."""
    if len(subject) > MAX_COLUMNS:
        return f"{len(subject)} characters; at most {MAX_COLUMNS}"
    if not FORM.match(subject):
        return "not of the form 'area: what' or '[abi] area: what'"
    return "ends with a period" if subject.endswith(".") else ""


def subjects(root: Path) -> list:
    """Hash and subject of each commit that counts, the newest first."""
    first = git(root, "log", "--diff-filter=A", "--format=%H", "--", SELF).split()
    if not first:
        return []
    lines = git(root, "log", "--no-merges", "--format=%h %s", f"{first[-1]}..HEAD").splitlines()
    return [line.split(" ", 1) for line in lines]


def main() -> int:
    root = Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description="checks the subjects of commits")
    parser.add_argument("--root", type=Path, default=root)
    options = parser.parse_args()
    if not (options.root / ".git").exists():
        print("commits: no history here")
        return 0
    found = [(name, problem_of(subject), subject) for name, subject in subjects(options.root)]
    found = [entry for entry in found if entry[1]]
    for name, problem, subject in found:
        print(f"{name}: {problem}: {subject}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
