#!/usr/bin/env python3
"""Fails where a function of the public header does not say what it owes its callers.

Each has a doc comment directly before it: what it does, then the lines `Blocking:`, `Threads:` and
`Status:`, the last with KM_SUCCESS and every other status with its condition, by semicolons.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "gen"))

import c_header

FIELDS = ("Blocking", "Threads", "Status")
STATUS = re.compile(r"KM_(?:SUCCESS|NOT_READY|TIMEOUT|ERROR_[A-Z_]+)")


def fields(doc: str) -> dict:
    """`Name: text`, where the text goes on over the following lines up to the next field."""
    found = re.split(rf"^({'|'.join(FIELDS)}):", doc, flags=re.M)
    return {name: " ".join(text.split()) for name, text in zip(found[1::2], found[2::2])}


def status_problems(text: str, known: set) -> list:
    problems = []
    items = [item.strip(" .") for item in text.split(";")]
    named = STATUS.findall(text)
    if "KM_SUCCESS" not in named:
        problems.append("does not list KM_SUCCESS")
    problems += [f"{name} is no status" for name in named if name not in known]
    for item in items:
        names = STATUS.findall(item)
        condition = STATUS.sub("", item).strip(" ,:.")
        if names and names[0].startswith("KM_ERROR") and len(condition.split()) < 2:
            problems.append(f"{names[0]} lacks its condition")
    return problems


def problems(function, known: set) -> list:
    found = []
    if function.result != "km_status":
        found.append(f"returns {function.result}, not km_status")
    if not function.is_noexcept:
        found.append("lacks KM_NOEXCEPT or KM_RUNS_CALLBACKS")
    outputs = [p.name for p in function.parameters if p.name.startswith("out_")]
    inputs = [p.name for p in function.parameters if not p.name.startswith("out_")]
    if [p.name for p in function.parameters] != inputs + outputs:
        found.append("has an out-parameter before another parameter")
    if not function.doc:
        return [*found, "has no doc comment"]
    said = fields(function.doc)
    found += [f"lacks '{name}:'" for name in FIELDS if not said.get(name)]
    if re.split(rf"^(?:{'|'.join(FIELDS)}):", function.doc, flags=re.M)[0].strip() == "":
        found.append("does not say what it does")
    return found + status_problems(said.get("Status", ""), known)


def self_test() -> int:
    """The checker itself: a good comment passes, each omission is found."""
    known = {"KM_SUCCESS", "KM_ERROR_IO"}
    good = "/** Does it.\n * Blocking: no.\n * Threads: any.\n" \
           " * Status: KM_SUCCESS; KM_ERROR_IO when the\n *   disk fails. */\n"
    call = "KM_API km_status km_a_do(km_a a, int* out_b) KM_NOEXCEPT;\n"
    bad = {
        "no doc": call,
        "what it does": good.replace("Does it.", "") + call,
        "'Blocking:'": good.replace("Blocking: no.", "") + call,
        "'Threads:'": good.replace("Threads: any.", "") + call,
        "'Status:'": good.replace("Status:", "Statuses") + call,
        "KM_SUCCESS": good.replace("KM_SUCCESS; ", "") + call,
        "condition": good.replace(" when the\n *   disk fails", "") + call,
        "no status": good.replace("KM_ERROR_IO", "KM_ERROR_OI") + call,
        "KM_NOEXCEPT": good + call.replace(" KM_NOEXCEPT", ""),
        "out-parameter": good + call.replace("km_a a, int* out_b", "int* out_b, km_a a"),
        "returns": good + call.replace("km_status", "int"),
    }
    failed = 0
    for expected, text in {"": good + call, **bad}.items():
        (function,) = c_header.functions(text)
        found = " | ".join(problems(function, known))
        if (expected == "") != (found == "") or expected not in found:
            print(f"self-test: expected '{expected}', found '{found}'")
            failed += 1
    return failed


def main() -> int:
    text = c_header.HEADER.read_text()
    known = c_header.statuses(text)
    functions = c_header.functions(text)
    count = self_test()
    if not functions or not known or len(functions) != len(re.findall(r"^KM_API\b", text, re.M)):
        print("cannot read the header: not every KM_API is a function that gen/c_header.py parses")
        count += 1
    for function in functions:
        for problem in problems(function, known):
            print(f"include/c_api.h:{function.line}: {function.name} {problem}")
            count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
