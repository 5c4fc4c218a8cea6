#!/usr/bin/env python3
"""Fails where a function of the public headers does not say what it owes its callers.

Each has a doc comment directly before it: what it does, then the lines `Blocking:`, `Threads:` and
`Status:`, by semicolons, each where it differs from what base.h says of all functions and only
then. With what holds by default, it has KM_SUCCESS and every other status with its condition.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "gen"))

from c import c_contract, c_header

STATUS = re.compile(r"KM_(?:SUCCESS|NOT_READY|TIMEOUT|ERROR_[A-Z_]+)")


def status_problems(contract, known: set) -> list:
    problems = []
    for name, condition in contract.statuses:
        problems += [f"{each} is no status" for each in STATUS.findall(name) if each not in known]
        if name.startswith("KM_ERROR") and len(condition.split()) < 2:
            problems.append(f"{name} lacks its condition")
    named = {name for name, _ in contract.statuses}
    if "KM_SUCCESS" not in named:
        problems.append("does not list KM_SUCCESS")
    return problems


def comment_problems(function, known: set, header) -> list:
    if not function.doc:
        return ["has no doc comment"]
    contract = c_contract.contract(function, *header)
    found = [] if contract.text else ["does not say what it does"]
    found += [f"says what holds by default: {text}"
              for text in c_contract.repeated(function, *header)]
    implied = {name for name, _ in c_contract.defaults(function, *header)}
    found += [f"takes {name} back, which it does not have"
              for name in c_contract.taken_back(function) if name not in implied]
    return found + status_problems(contract, known)


def problems(function, known: set, header) -> list:
    """`header` has the types of handles, and the structures that functions fill."""
    found = []
    if function.result != "km_status":
        found.append(f"returns {function.result}, not km_status")
    if not function.is_noexcept:
        found.append("lacks KM_NOEXCEPT or KM_RUNS_CALLBACKS")
    outputs = [p.name for p in function.parameters if p.name.startswith("out_")]
    inputs = [p.name for p in function.parameters if not p.name.startswith("out_")]
    if [p.name for p in function.parameters] != inputs + outputs:
        found.append("has an out-parameter before another parameter")
    return found + comment_problems(function, known, header)


def self_test() -> int:
    """The checker itself: a good comment passes, each omission is found."""
    known = {"KM_SUCCESS", "KM_ERROR_IO", "KM_ERROR_INVALID_HANDLE", "KM_ERROR_INVALID_ARGUMENT",
             "KM_ERROR_CONTEXT_LOST"}
    good = "/** Does it.\n * Blocking: a while.\n" \
           " * Status: KM_ERROR_IO when the\n *   disk fails. */\n"
    call = "KM_API km_status km_a_do(km_a a, int* out_b) KM_NOEXCEPT;\n"
    bad = {
        "no doc": call,
        "what it does": good.replace("Does it.", "") + call,
        "by default: Blocking": good.replace("a while", "no") + call,
        "by default: KM_ERROR_INVALID_ARGUMENT":
            good.replace("KM_ERROR_IO when the\n *   disk fails",
                         "KM_ERROR_INVALID_ARGUMENT when `out_b` is null") + call,
        "takes KM_ERROR_IO back":
            good.replace("KM_ERROR_IO when the\n *   disk fails", "never KM_ERROR_IO") + call,
        "condition": good.replace(" when the\n *   disk fails", "") + call,
        "no status": good.replace("KM_ERROR_IO", "KM_ERROR_OI") + call,
        "KM_NOEXCEPT": good + call.replace(" KM_NOEXCEPT", ""),
        "out-parameter": good + call.replace("km_a a, int* out_b", "int* out_b, km_a a"),
        "returns": good + call.replace("km_status", "int"),
    }
    failed = 0
    for expected, text in {"": good + call, **bad}.items():
        (function,) = c_header.functions(text)
        found = " | ".join(problems(function, known, (["km_a"], set())))
        if (expected == "") != (found == "") or expected not in found:
            print(f"self-test: expected '{expected}', found '{found}'")
            failed += 1
    return failed


def main() -> int:
    text = c_header.text()
    known = c_header.statuses(text)
    header = (c_header.handles(text), c_header.filled(text))
    count = self_test()
    if not known or len(c_header.functions(text)) != len(re.findall(r"^KM_API\b", text, re.M)):
        print("cannot read the headers: gen/c/c_header.py does not parse each KM_API as a function")
        count += 1
    for name, part in c_header.files().items():
        for function in c_header.functions(part):
            for problem in problems(function, known, header):
                print(f"include/kernelmill/{name}:{function.line}: {function.name} {problem}")
                count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
