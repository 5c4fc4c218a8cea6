#!/usr/bin/env python3
"""Compiles the public headers as C11, C23 and C++11 to C++20: c_api.h alone and twice, in two files
of one program; each other header alone."""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

INCLUDE = Path(__file__).resolve().parents[2] / "include"
HEADERS = sorted(path.name for path in (INCLUDE / "kernelmill").glob("*.h"))
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion", "-Wshadow", "-Wundef"]
C_WARNINGS = ["-Wstrict-prototypes", "-Wmissing-prototypes", "-Wc++-compat"]
TWICE = "#include <kernelmill/c_api.h>\n#include <kernelmill/c_api.h>\n"

# Handles of different types must not pass for one another, in C as in C++.
MIXED = TWICE + "km_event f(km_stream stream);\nkm_event f(km_stream stream) { return stream; }\n"
MATCHED = TWICE + "km_event f(km_event event);\nkm_event f(km_event event) { return event; }\n"


def levels(gcc: str, clang: str) -> list:
    """(name, compiler with flags, ending of sources)"""
    return [
        ("gcc C11", [gcc, "-x", "c", "-std=c11", *C_WARNINGS], ".c"),
        ("gcc C2x", [gcc, "-x", "c", "-std=c2x", *C_WARNINGS], ".c"),
        ("gcc C++17", [gcc, "-x", "c++", "-std=c++17"], ".cpp"),
        ("gcc C++20", [gcc, "-x", "c++", "-std=c++20"], ".cpp"),
        ("clang C11", [clang, "-x", "c", "-std=c11", *C_WARNINGS], ".c"),
        ("clang C23", [clang, "-x", "c", "-std=c23", *C_WARNINGS], ".c"),
        ("clang C++20", [clang, "-x", "c++", "-std=c++20"], ".cpp"),
        ("clang C++11", [clang, "-x", "c++", "-std=c++11"], ".cpp"),
    ]


class Checker:
    def __init__(self, folder: Path):
        self.folder = folder
        self.failures = 0
        shutil.copytree(INCLUDE, folder / "include")

    def compile(self, command: list, ending: str, text: str, extra: list):
        source = self.folder / f"source{ending}"
        source.write_text(text)
        arguments = [*command, *WARNINGS, *extra, "-I", self.folder / "include", source]
        return subprocess.run(arguments, capture_output=True, text=True)

    def expect(self, what: str, done, works: bool):
        if (done.returncode == 0) == works:
            return
        self.failures += 1
        print(f"{what}: {'failed' if works else 'compiled, but must not'}\n{done.stderr}")

    def check(self, name: str, command: list, ending: str):
        syntax = ["-fsyntax-only"]
        for defines in ([], ["-DKM_HANDLES_AS_U64"], ["-DSWIG"]):
            done = self.compile(command, ending, TWICE, syntax + defines)
            self.expect(f"{name} {' '.join(defines)}", done, True)
        matched = self.compile(command, ending, MATCHED, syntax)
        self.expect(f"{name}, a handle as itself", matched, True)
        mixed = self.compile(command, ending, MIXED, syntax)
        self.expect(f"{name}, a stream as an event", mixed, False)
        if name in ("gcc C11", "gcc C++17"):
            self.alone(name, command, ending)
        self.link(name, command, ending)

    def alone(self, name: str, command: list, ending: str):
        """Each header needs no other before it, and may come twice."""
        for header in HEADERS:
            text = f"#include <kernelmill/{header}>\n" * 2 + "typedef int nothing;\n"
            done = self.compile(command, ending, text, ["-fsyntax-only"])
            self.expect(f"{name}, {header} alone", done, True)

    def link(self, name: str, command: list, ending: str):
        """Two files that include the header make one program."""
        objects = []
        for part, body in (("a", "int main(void) { return 0; }\n"), ("b", MATCHED)):
            objects.append(self.folder / f"{part}.o")
            done = self.compile(command, ending, TWICE + body, ["-c", "-o", objects[-1]])
            self.expect(f"{name}, file {part}", done, True)
        program = self.folder / "program"
        done = subprocess.run([command[0], *objects, "-o", program], capture_output=True, text=True)
        self.expect(f"{name}, two files", done, True)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--gcc", required=True)
    parser.add_argument("--clang", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(Path(folder))
        for level in levels(options.gcc, options.clang):
            checker.check(*level)
    return 1 if checker.failures else 0


if __name__ == "__main__":
    sys.exit(main())
