"""One short program in each language, taken from marked lines of its examples, for
docs/bindings.md.
"""

import textwrap

from c import c_header

ROOT = c_header.ROOT
BEGIN, END = "docs/bindings.md shows what follows.", "docs/bindings.md shows no more."
# Maps each language to its name for syntax highlighting and its program.
PROGRAMS = {
    "C": ("c", "examples/c/saxpy.c"),
    "C++": ("cpp", "examples/cpp/saxpy.cpp"),
    "Rust": ("rust", "examples/rust/src/bin/saxpy.rs"),
    "Go": ("go", "examples/go/saxpy/main.go"),
    "Zig": ("zig", "examples/zig/saxpy.zig"),
    "Python": ("python", "examples/python/saxpy.py"),
}
KERNEL = "examples/saxpy/saxpy.cu"
HEAD = """## The same program in each language

y += a x, on a GPU where there is one, else on the CPU. The lines are those of programs that run as
tests; around them is what each language needs: declarations, what becomes of a failure, and
destroying. `kernel_file` is this file:

"""


def marked_lines(source: str, name: str) -> str:
    """The lines between the marks of a source, without their common indentation."""
    lines = source.splitlines()
    places = [[i for i, line in enumerate(lines) if mark in line] for mark in (BEGIN, END)]
    if [len(found) for found in places] != [1, 1] or places[0] > places[1]:
        raise SystemExit(f"gen: {name} marks no lines: '{BEGIN}' and '{END}', once each")
    return textwrap.dedent("\n".join(lines[places[0][0] + 1 : places[1][0]])).strip("\n")


def fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.expandtabs(4)}\n```\n\n"


def text() -> str:
    parts = [HEAD, fenced("cuda", (ROOT / KERNEL).read_text().rstrip())]
    for title, (language, path) in PROGRAMS.items():
        parts.append(f"{title} ([`{path}`](../{path})):\n\n")
        parts.append(fenced(language, marked_lines((ROOT / path).read_text(), path)))
    return "".join(parts)
