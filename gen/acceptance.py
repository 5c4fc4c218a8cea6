"""docs/internals/acceptance.md: the tests for each promise of the source documents.

tests/acceptance.tsv has a row for each test: item, path, the test's name. An item of the C ABI
needs a test in C, or a reason why the C ABI does not have it.
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "tests" / "acceptance.tsv"

GO = "of the Go package: "
PATTERNS = "the example `examples/c/services/patterns.c`, run by `examples.patterns`"
# The items that the C ABI has to provide: (name, reason for lacking a test in C; empty: has one).
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
    "A32": ("backends that no build has, by name", ""),
}
HEAD = """# Acceptance

The source documents promise things of the runtime and of the bindings; these tests show them.
`tests/acceptance.tsv` is the list. `c.pool` is `tests/c/memory/test_pool.c`.

| item | what | tests in C |
|---|---|---|
"""
OTHERS = """
## Tests in other languages

| item | tests |
|---|---|
"""


def read_rows() -> list:
    rows = [line.split("\t") for line in TABLE.read_text().splitlines()]
    if any(len(row) != 3 for row in rows):
        raise SystemExit(f"gen: {TABLE.name} has a row that is not item, path and test")
    for item, path, test in rows:
        if not (ROOT / path).is_file() or test not in (ROOT / path).read_text():
            raise SystemExit(f"gen: {TABLE.name}: {item}: there is no {test} in {path}")
    if rows != sorted(rows):
        raise SystemExit(f"gen: {TABLE.name} is not sorted: LC_ALL=C sort -o does it")
    return rows


def number_of(item: str) -> tuple:
    """The sort key of an item, which orders G3 before G10."""
    match = re.match(r"([A-Z]+)(\d+)$", item)
    return (match[1], int(match[2])) if match else (item, 0)


def text() -> str:
    in_c, others = {}, {}
    for item, path, test in read_rows():
        if path.startswith("tests/c/"):
            program = Path(path).stem.removeprefix("test_")
            in_c.setdefault(item, []).append(f"`c.{program}` {test}")
        else:
            others.setdefault(item, []).append(f"`{path}` {test}")
    rows = []
    for item, (what, reason) in ITEMS.items():
        shown = in_c.get(item, [])
        if not shown and not reason:
            raise SystemExit(f"gen: {item} ({what}) has no C test, and no reason for that")
        rows.append(f"| {item} | {what} | {'; '.join(shown) or reason} |\n")
    banner = "<!-- Generated by `make gen` from tests/acceptance.tsv. -->\n"
    end = [f"| {item} | {'; '.join(others[item])} |\n" for item in sorted(others, key=number_of)]
    return banner + HEAD + "".join(rows) + (OTHERS + "".join(end) if end else "")
