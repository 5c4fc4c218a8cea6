"""The rule on comments: a comment is a sentence whose subject is a named thing.

Comments that open with one of OPENINGS have no such subject.
"""

import re

from tree import Finding

OPENINGS = re.compile(r"(What|Whether|Of|By|Where|As|The same|How often)\b")
SCOPE = re.compile(r"^(src|dropin|gen|include)/")
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


def run(files: list) -> list:
    found = []
    for file in files:
        if not file.is_code or file.is_generated or not SCOPE.match(file.path):
            continue
        text = "opens without a subject (What, Whether, Of, By, Where, As, The same, How often)"
        found += [Finding("comment", file.path, line, text) for line in openings(file)]
    return found
