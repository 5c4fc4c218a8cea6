"""docs/acceptance.md: which C tests show which promise of the source documents.

A test says by its name what it shows: g29_a14_pool_reuses_blocks. An item needs such a test, or a
reason why the C ABI has none.
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = re.compile(r"cmocka_unit_test\(((?:[gcia]\d+_)+\w+)\)")

GO = "of the Go package: "
PATTERNS = "the example `examples/c/services/patterns.c`, run by `examples.patterns`"
# What the runtime's part of the C ABI has to serve, and why an item has no test in C.
ITEMS = {
    "G3": ("aligned allocation", ""),
    "G4": ("free and total memory", ""),
    "G5": ("memory set", ""),
    "G6": ("copies, checked against the allocation", ""),
    "G7": ("asynchronous copies", ""),
    "G8": ("copies of typed values", ""),
    "G9": ("the direction of a copy follows from the address", ""),
    "G13": ("stream query", ""),
    "G14": ("default stream", ""),
    "G15": ("a stream waits for an event", ""),
    "G16": ("computation and transfer overlap", ""),
    "G17": ("events", ""),
    "G18": ("scal in a stream", ""),
    "G19": ("scal and axpy with increments", ""),
    "G20": ("device count", ""),
    "G21": ("current device", GO + "the C ABI names devices, and has no current one"),
    "G22": ("device properties", ""),
    "G23": ("device synchronise", ""),
    "G24": ("device reset", ""),
    "G25": ("work on several devices", ""),
    "G26": ("error codes", ""),
    "G27": ("last error, taken or peeked", ""),
    "G28": ("out of memory is tried again, many calls are checked once", ""),
    "G29": ("memory pool", ""),
    "G30": ("profiler ranges, summary and trace", ""),
    "G31": ("zero copy", ""),
    "G32": ("fast memory set and copies", ""),
    "G33": ("practices as examples", GO + "its documentation"),
    "G34": ("pool objects", ""),
    "G35": ("device memory in a debugger", ""),
    "G36": ("transfer benchmark", "`bench` measures it"),
    "G37": ("pinned memory", ""),
    "G38": ("mapped data sets", ""),
    "G39": ("particles as arrays and structures", PATTERNS),
    "G40": ("leak reports", ""),
    "G41": ("memory profile", ""),
    "G42": ("memory patterns compared", PATTERNS),
    "C5": ("pinned buffers stay while they are copied", ""),
    "C16": ("all properties of a device", ""),
    "C17": ("memory figures", ""),
    "C18": ("streams overlap and events order", ""),
    "C19": ("a batch of 8 slices and 12 arguments", ""),
    "C20": ("kernels timed by events", ""),
    "C21": ("modules, functions, capture, occupancy", ""),
    "I5": ("device and stream of a runtime", ""),
    "I6": ("waiting for stream and device", ""),
    "I7": ("memory, and trimming it", ""),
    "I8": ("pinned memory that cannot be had", ""),
    "I9": ("copies, asynchronous or not", ""),
    "I10": ("events, also never recorded ones", ""),
    "I11": ("a stream waits for an event", ""),
    "I12": ("times in nanoseconds", ""),
    "I13": ("graphs are recorded", ""),
    "I14": ("graphs are run", ""),
    "I15": ("a replay costs less and has no side effects", ""),
    "I16": ("addresses of a recording stay", ""),
    "I17": ("pinned blocks", ""),
    "I18": ("graphs can be looked at", ""),
    "I19": ("out of memory can be told apart", ""),
    "I20": ("several streams and contexts of a device", ""),
    "I21": ("another device than the first", ""),
    "I22": ("pinned memory that cannot be had", ""),
    "A10": ("asynchronous copies in all directions", ""),
    "A11": ("device queries", ""),
    "A12": ("devices are listed", ""),
    "A13": ("device and pinned memory", ""),
    "A14": ("memory pool with limit and figures", ""),
    "A15": ("asynchronous copies", ""),
    "A16": ("streams, events, a pool of streams", ""),
    "A17": ("CUDA C++ to PTX", ""),
    "A18": ("its options and log", ""),
    "A19": ("errors: history, counts, CUDA's results", ""),
    "A20": ("errors: categories and suggestions", ""),
    "A21": ("profiler", ""),
    "A22": ("occupancy", ""),
    "A26": ("compiled kernels kept on disk", ""),
    "A27": ("several devices", ""),
    "A28": ("auto-tuning", ""),
    "A29": ("choice of the backend", ""),
}
HEAD = """# Acceptance

What the five source documents promise of the runtime (memory, streams, graphs, errors and the
rest), and the C tests that show it. A test has the numbers of its items in its name; `c.pool` is
`tests/c/test_pool.c`. The bindings' own items are tested there.

| item | what | C tests |
|---|---|---|
"""


def found_tests() -> dict:
    """Item -> tests, in the order of the files."""
    found = {}
    for path in sorted((ROOT / "tests" / "c").glob("test_*.c*")):
        program = path.stem.removeprefix("test_")
        for name in TESTS.findall(path.read_text()):
            head = re.match(r"(?:[gcia]\d+_)+", name)[0]
            for item in head.strip("_").split("_"):
                found.setdefault(item.upper(), []).append(f"`c.{program}` {name}")
    return found


def text() -> str:
    tests = found_tests()
    rows = []
    for item, (what, reason) in ITEMS.items():
        shown = tests.get(item, [])
        if not shown and not reason:
            raise SystemExit(f"gen: {item} ({what}) has no C test, and no reason for that")
        rows.append(f"| {item} | {what} | {'; '.join(shown) or reason} |\n")
    return f"<!-- Generated by `make gen` from the tests' names. -->\n{HEAD}{''.join(rows)}"
