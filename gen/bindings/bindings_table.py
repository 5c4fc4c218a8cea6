"""docs/bindings.md: a program in each language, and the name of each C ABI function there."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from bindings import binding_names, binding_programs, cpp_items, go_items, rust_items, zig_items
from c import c_header

ROOT = c_header.ROOT
HEAD = """# The bindings

"""
TABLE = """## Function by function

A row for each function of `<kernelmill/c_api.h>`, in the header's order, and for each language what
wraps it, or why nothing does. C++ names are those of `kernelmill.hpp`, in `km` and `km::nothrow`.
Python's module is for [launching kernels](guide/python.md); its `kernelmill.raw` has every function
of this table by its name in C.

"""
MANY = 4


def plain(name: str) -> str:
    """A name reduced to the part that does not depend on a language's conventions."""
    return name.replace("_", "").lower()


def called_alike(function: str, names: list) -> list:
    """The users of a function that have its name."""
    ends = {name: plain(re.split(r"::|\.", name)[-1]) for name in names}
    ends = {name: end for name, end in ends.items() if plain(function).endswith(end)}
    longest = max(map(len, ends.values()), default=0)
    return [name for name, end in ends.items() if len(end) == longest]


def same_verb(function: str, names: list) -> list:
    """The methods with the function's verb, if one method adds and sets nodes."""
    verb = next((verb for verb in ("add", "set") if f"_{verb}_" in function), "")
    same = [name for name in names if re.search(rf"\.{verb}[A-Z]", name, re.I)]
    return same if verb and same else names


def dropping(function: str, names: list) -> list:
    """The users of a function that only drop an object, if the function drops one."""
    is_drop = function.endswith("_destroy")
    return [name for name in names if name.endswith(".deinit")] if is_drop else names


def all_of(_function: str, names: list) -> list:
    return names


@dataclass
class Column:
    """The names of one language.

    `source` has the items of its sources with the functions that they use; `narrow` removes users
    that are less relevant.
    """

    language: str
    source: object
    names: dict = field(default_factory=dict)
    reasons: dict = field(default_factory=dict)
    narrow: Callable = all_of

    def names_of(self, function: str) -> list:
        """The public items that wrap a function."""
        given = self.names.get(function)
        names = given or self.narrow(function, self.source.users_of(function))
        return names if len(names) <= MANY else called_alike(function, names)

    def cell(self, function: str) -> str:
        names = self.names_of(function)
        if names and function in self.reasons:
            raise SystemExit(f"gen: {function} has a wrapper in {self.language} and a reason for "
                             "having none")
        return ", ".join(f"`{name}`" for name in names) or self.reasons.get(function, "")

    def check_names(self, functions: list) -> None:
        """Checks that functions and names given by hand exist."""
        known = {item.title for item in self.source.items if item.is_public}
        known |= {name for name in sum(self.names.values(), []) if name.startswith("drop of ")}
        for function, names in {**self.names, **dict.fromkeys(self.reasons, [])}.items():
            if not set(names) <= known or function not in functions:
                raise SystemExit(f"gen: {function} or its name in {self.language} is gone: {names}")


def rows(functions: list, columns: list) -> str:
    """The rows of the table; a function without a name and without a reason is an error."""
    lines = []
    for function in functions:
        cells = [column.cell(function) for column in columns]
        empty = [column.language for column, cell in zip(columns, cells) if not cell]
        if empty:
            raise SystemExit(
                f"gen: {function} has no wrapper in {', '.join(empty)}, or one that many share, "
                "and neither a name nor a reason in gen/bindings/binding_names.py"
            )
        lines.append(f"| `{function}` | {' | '.join(cells)} |\n")
    return "".join(lines)


def columns() -> list:
    rust = rust_items.Crate(ROOT / "bindings/rust/kernelmill/src")
    cpp = cpp_items.Headers(sorted((ROOT / "include/kernelmill/cpp").glob("*.hpp")))
    go = go_items.Package(ROOT / "bindings/go/kernelmill")
    zig = zig_items.Module(ROOT / "bindings/zig/src")
    given = binding_names
    return [
        Column("Rust", rust, given.RUST_NAMES, given.RUST_REASONS),
        Column("C++", cpp, given.CPP_NAMES, given.CPP_REASONS),
        Column("Go", go, given.GO_NAMES, given.GO_REASONS, narrow=same_verb),
        Column("Zig", zig, given.ZIG_NAMES, given.ZIG_REASONS, narrow=dropping),
    ]


def text() -> str:
    functions = [f.name for f in c_header.functions(c_header.text())]
    table = columns()
    for column in table:
        column.check_names(functions)
    sources = "include/kernelmill, the bindings' sources and the examples"
    banner = f"<!-- Generated by `make gen` from {sources}. -->\n"
    heads = " | ".join(column.language for column in table)
    rule = f"| C | {heads} |\n|---|{'---|' * len(table)}\n"
    return banner + HEAD + binding_programs.text() + TABLE + rule + rows(functions, table)
