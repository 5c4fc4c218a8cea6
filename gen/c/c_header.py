"""Reads include/kernelmill/c_api.h and the headers that it includes: functions, doc comments,
enums.
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "include" / "kernelmill"
UMBRELLA = "c_api.h"
INCLUDE = re.compile(r'^#include "([a-z_]+\.h)"\n', re.M)
HANDLE = re.compile(r"^KM_HANDLE\((\w+)\);", re.M)
FILLED = re.compile(r"typedef struct (km_\w+) \{\s*uint32_t struct_size;")
FUNCTION = re.compile(
    r"(?P<doc>/\*\*(?:(?!\*/).)*\*/)?\s*\bKM_API\s+(?P<result>\w[\w ]*?[\w*])\s*\b(?P<name>km_\w+)"
    r"\s*\((?P<parameters>[^)]*)\)\s*(?P<tail>[^;]*);",
    re.S,
)
CONSTANT = re.compile(r"^\s*(KM_[A-Z0-9_]+)\s*=\s*(-?\w+)", re.M)


def files(folder: Path = FOLDER) -> dict:
    """Maps names to texts of the ABI's headers, in the order of inclusion."""
    found = {}

    def read(name: str):
        if name in found:
            return
        text = (folder / name).read_text()
        found[name] = text  # keeps a header that includes itself from being read again
        for inner in INCLUDE.findall(text):
            read(inner)
        found[name] = found.pop(name)

    read(UMBRELLA)
    return found


def text(folder: Path = FOLDER) -> str:
    """The whole ABI as one header, with each of its headers once."""
    return "\n".join(INCLUDE.sub("", part) for part in files(folder).values())


@dataclass
class Parameter:
    type: str  # "const void*", "km_stream" ...
    name: str


@dataclass
class Function:
    name: str
    result: str
    parameters: list
    doc: str  # without the stars; empty if there is no comment
    line: int
    is_noexcept: bool


def parse_parameter(text: str) -> Parameter:
    match = re.fullmatch(r"(.*?[\s*])(\w+)(\[\d*\])?", " ".join(text.split()))
    base = match[1].strip().replace(" *", "*")
    return Parameter(base + ("*" if match[3] else ""), match[2])


def plain(doc: str) -> str:
    """The text of a doc comment, without its stars."""
    lines = (re.sub(r"^\s*(/\*\*|\*/|\*(?!/))?\s?", "", line) for line in doc.split("\n"))
    return "\n".join(line.replace("*/", "").rstrip() for line in lines).strip()


def functions(text: str) -> list:
    found = []
    for match in FUNCTION.finditer(text):
        parameters = match["parameters"].strip()
        listed = [] if parameters in ("", "void") else parameters.split(",")
        found.append(
            Function(
                name=match["name"],
                result=" ".join(match["result"].split()),
                parameters=[parse_parameter(p) for p in listed],
                doc=plain(match["doc"] or ""),
                line=text.count("\n", 0, match.start("name")) + 1,
                is_noexcept="KM_NOEXCEPT" in match["tail"] or "KM_RUNS_CALLBACKS" in match["tail"],
            )
        )
    return found


def handles(text: str) -> list:
    """The types of handles, in the header's order."""
    return HANDLE.findall(text)


def filled(text: str) -> set:
    """The structures that begin with struct_size."""
    return set(FILLED.findall(text))


def constants(text: str) -> dict:
    """All enumerators, by name."""
    return {name: value for name, value in CONSTANT.findall(text)}


def statuses(text: str) -> set:
    """The enumerators of km_status."""
    block = re.search(r"typedef \w+ km_status;\s*enum \{(.*?)\};", text, re.S)
    return set(constants(block[1])) if block else set()
