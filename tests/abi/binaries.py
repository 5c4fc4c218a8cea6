#!/usr/bin/env python3
"""Checks what the library and its plugin export, need and are called."""

import argparse
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "gen"))

from c import c_header

C_RUNTIME = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}
CPP_RUNTIME = {"libstdc++.so.6", "libgcc_s.so.1"}


def output(*command) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def exported(library: Path) -> set:
    """`name@@VERSION` of everything defined for others; version nodes themselves left out."""
    lines = (line.split() for line in output("nm", "-D", "--defined-only", library).splitlines())
    return {fields[2] for fields in lines if fields[1] != "A"}


def dynamic(library: Path, tag: str) -> set:
    return set(re.findall(rf"\({tag}\).*\[(.*)\]", output("readelf", "-d", library)))


def compare(what: str, expected: set, found: set) -> list:
    missing = [f"{what} lacks {name}" for name in sorted(expected - found)]
    return missing + [f"{what} has {name}, unasked" for name in sorted(found - expected)]


def check_library(library: Path, version_node: str) -> list:
    functions = c_header.functions(c_header.text())
    expected = {f"{function.name}@@{version_node}" for function in functions}
    problems = compare("the library", expected, exported(library))
    if dynamic(library, "SONAME") != {"libkernelmill.so.1"}:
        problems.append(f"the library's SONAME is {dynamic(library, 'SONAME')}")
    strange = dynamic(library, "NEEDED") - C_RUNTIME - CPP_RUNTIME
    return problems + [f"the library needs {name}" for name in sorted(strange)]


def check_plugin(plugin: Path) -> list:
    problems = compare("the plugin", {"km_backend_plugin", "km_plugin_copy_host"}, exported(plugin))
    strange = dynamic(plugin, "NEEDED") - C_RUNTIME
    problems += [f"the plugin needs {name}" for name in sorted(strange)]
    if "NODELETE" not in output("readelf", "-d", plugin):
        problems.append("the plugin may be unloaded while its threads run")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", type=Path, required=True)
    parser.add_argument("--plugin", type=Path, required=True)
    parser.add_argument("--version-node", required=True)
    options = parser.parse_args()
    problems = check_library(options.library, options.version_node) + check_plugin(options.plugin)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
