"""The rule on comments: a comment is a sentence whose subject is a named thing.

Comments that open with one of OPENINGS have no such subject. Those that were there before the rule
are counted for each file in comments.txt, a list that shrinks: `tidy.py --shrink` takes off it what
is mended, `tidy.py --comments` prints it as the tree is now.
"""

import re
from pathlib import Path

from tree import Finding

OPENINGS = re.compile(r"(What|Whether|Of|By|Where|As|The same|How often)\b")
SCOPE = re.compile(r"^(src|dropin|gen|include)/")
LIST = "tests/tidy/comments.txt"
LINE = re.compile(r"^[ \t]*//[/!]?(.*)$")


def openings(file) -> list:
    """The lines where comments open so. Lines that follow each other are one comment."""
    found, inside = [], False
    for number, line in enumerate(file.lines, 1):
        match = LINE.match(line)
        if match and not inside and OPENINGS.match(match[1].strip()):
            found.append(number)
        inside = match is not None
    for match in re.finditer(r"/\*+[ \t\n*]*", file.text):
        if OPENINGS.match(file.text, match.end()):
            found.append(file.text.count("\n", 0, match.end()) + 1)
    return sorted(found)


def count_all(files: list) -> dict:
    """Path -> lines, of the files that the rule is about."""
    return {
        file.path: lines
        for file in files
        if file.is_code and not file.is_generated and SCOPE.match(file.path)
        and (lines := openings(file))
    }


def read_list(root: Path) -> dict:
    path = root / LIST
    if not path.is_file():
        return {}
    rows = [line.split(" ", 1) for line in path.read_text().splitlines()]
    return {name: int(count) for count, name in rows}


def shrink(files: list, root: Path) -> int:
    """Takes from the list what is mended, and gives how many are left."""
    allowed, counts = read_list(root), count_all(files)
    left = {path: min(allowed[path], len(counts[path])) for path in allowed if path in counts}
    (root / LIST).write_text("".join(f"{left[path]} {path}\n" for path in sorted(left)))
    return sum(left.values())


def listed(files: list) -> str:
    """The list as the tree is now."""
    counts = count_all(files)
    return "".join(f"{len(counts[path])} {path}\n" for path in sorted(counts))


def run(files: list, root: Path) -> list:
    allowed = read_list(root)
    found = []
    for path, lines in count_all(files).items():
        most = allowed.get(path, 0)
        if len(lines) > most:
            where = ", ".join(map(str, lines))
            text = (f"{len(lines)} comments open without a subject (What, Whether, Of, By, Where, "
                    f"As, The same), at most {most}: lines {where}")
            found.append(Finding("comment", path, lines[-1], text))
    return found
