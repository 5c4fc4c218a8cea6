#!/usr/bin/env python3
"""Compares the ABI that include/kernelmill describes with the committed kernelmill-1.0.abi.

The headers alone decide: they are compiled with empty functions, and abidw reads the result, so the
answer does not depend on compiler flags or on how the library was built (that the library exports
exactly these functions is the test abi.binaries). `--update` takes additions over into the
baseline; what would break programs it takes over with `--break` only.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "gen"))

from c import c_header

BASELINE = Path(__file__).resolve().parent / "kernelmill-1.0.abi"
ENUM = re.compile(r"typedef (\w+) (km_\w+);\s*enum \{")
ERRORS = 1 | 2  # bits of abidiff's exit status


def with_named_enums(header: str) -> str:
    """The enumerators stand in nameless enums beside a typedef: a name makes them part of types."""
    return ENUM.sub(r"typedef \1 \2;\nenum \2_values {", header)


def probe_source(header: str) -> str:
    """One empty function for each that the header declares, and one for each of its enums."""
    lines = ["#define KM_BUILDING_LIBRARY", '#include "c_api.h"']
    for _, name in ENUM.findall(header):
        lines.append(f"KM_API enum {name}_values km_values_of_{name[3:]}(void) {{ return 0; }}")
    for function in c_header.functions(header):
        listed = ", ".join(f"{p.type} {p.name}" for p in function.parameters) or "void"
        lines.append(f"{function.result} {function.name}({listed}) {{ return 0; }}")
    return "\n".join(lines) + "\n"


def describe(header: str, abidw: str, folder: Path) -> Path:
    """abidw's description of the header's ABI."""
    (folder / "c_api.h").write_text(with_named_enums(header))
    (folder / "probe.c").write_text(probe_source(header))
    library, description = folder / "libkernelmill.so.1", folder / "kernelmill.abi"
    compiler = ["gcc", "-std=c11", "-g", "-gdwarf-4", "-shared", "-fPIC", "-fvisibility=hidden"]
    subprocess.run(
        [*compiler, "-Wl,-soname,libkernelmill.so.1", "-o", library, "probe.c"],
        cwd=folder, check=True,
    )
    quiet = ["--no-corpus-path", "--no-comp-dir-path", "--no-show-locs"]
    subprocess.run([abidw, *quiet, "--out-file", description, library], check=True)
    return description


def compare(abidiff: str, old: Path, new: Path) -> tuple:
    done = subprocess.run([abidiff, old, new], capture_output=True, text=True)
    if done.returncode & ERRORS:
        raise SystemExit(f"abidiff failed: {done.stdout}{done.stderr}")
    return done.returncode, done.stdout


def only_adds(report: str) -> bool:
    """Nothing removed, nothing changed: abidiff's status does not tell additions from changes."""
    summaries = re.findall(r"changes summary: (\d+) Removed, (\d+) Changed", report)
    return all(removed == changed == "0" for removed, changed in summaries)


def self_test(header: str, abidw: str, abidiff: str) -> list:
    """abidiff sees what it is there for: a removed function and a field that moved."""
    function, struct = "KM_API km_status km_version(", "typedef struct km_build_info {"
    changes = {  # what, the change, whether it is an addition only
        "a removed function": (function, "km_status km_gone(", False),
        "a moved field": (struct, struct + "int x;", False),
        "a changed enumerator": ("KM_ERROR_IO = ", "KM_ERROR_IO = 7", False),
        "a new function": (function, "KM_API km_status km_new(void);\n" + function, True),
    }
    problems = []
    # The header's own checks of its layout would stop the change before abidiff sees it.
    header = re.sub(r"^KM_CHECK_SIZE\(.*\);$", "", header, flags=re.M)
    with tempfile.TemporaryDirectory() as before:
        old = describe(header, abidw, Path(before))
        for what, (text, replacement, is_addition) in changes.items():
            with tempfile.TemporaryDirectory() as after:
                new = describe(header.replace(text, replacement), abidw, Path(after))
                code, report = compare(abidiff, old, new)
                if text not in header or code == 0 or only_adds(report) != is_addition:
                    problems.append(f"self-test: {what} is not told for what it is: {report}")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--abidw", default="abidw")
    parser.add_argument("--abidiff", default="abidiff")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--break", dest="may_break", action="store_true")
    options = parser.parse_args()
    header = c_header.text()
    with tempfile.TemporaryDirectory() as folder:
        now = describe(header, options.abidw, Path(folder))
        code, report = (0, "") if not BASELINE.exists() else compare(options.abidiff, BASELINE, now)
        if options.update and (options.may_break or only_adds(report)):
            BASELINE.write_text(now.read_text())
            return 0
    if not BASELINE.exists():
        print(f"{BASELINE} is missing")
        return 1
    if code:
        print(report)
        print("The ABI differs from the baseline. Programs built against an earlier header must go")
        print("on working: only add. Then: tests/abi/baseline.py --update, commit with [abi].")
    problems = self_test(header, options.abidw, options.abidiff)
    for problem in problems:
        print(problem)
    return 1 if code or problems else 0


if __name__ == "__main__":
    sys.exit(main())
