#!/usr/bin/env python3
"""Compares Kernelmill with PoCL and OpenMP C++; prints a table and writes results.json.

Environment: KERNELS=a,b runs only these; QUICK=1 takes few short samples; THREADS=n uses n threads.
"""
import argparse
import json
import os
import platform
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))

from driver import call_cost, compile_time  # noqa: E402
from driver.kernels import CALL_COST, COMPILE, KERNELS  # noqa: E402
from driver.measure import Bench, rows_of, say  # noqa: E402


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="the build folder")
    parser.add_argument("--output", help="results file (default: build/bench/results.json)")
    return parser.parse_args()


def selected_kernels():
    names = [name for name in os.environ.get("KERNELS", "").split(",") if name]
    known = [*KERNELS, COMPILE, CALL_COST]
    for name in names:
        if name not in known:
            sys.exit(f"KERNELS: no benchmark '{name}'; there are {', '.join(known)}")
    return names or known


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def print_table(rows, quick, threads):
    print(f"{processor()}, {threads} threads" + (", quick run" if quick else ""))
    print(f"{'kernel':<16}{'contestant':<12}{'best':>10}{'median':>10} {'unit':<10}"
          f"{'bound':>10}{'of bound':>10}{'vs pocl':>9}{'vs openmp':>11}")
    for row in rows:
        print(format_row(row, rows))


def format_row(row, rows):
    smaller = row["unit"] == "us"
    bound = row["bound"]
    share = ""
    if bound:
        share = f"{100 * (bound / row['median'] if smaller else row['median'] / bound):.0f}%"
    text = (f"{row['kernel']:<16}{row['contestant']:<12}{row['best']:>10.3f}"
            f"{row['median']:>10.3f} {row['unit']:<10}"
            f"{f'{bound:.3f}' if bound else '-':>10}{share:>10}")
    for other, width in (("pocl", 9), ("openmp", 11)):
        text += f"{ratio(row, rows, other):>{width}}"
    return text


def ratio(row, rows, other):
    """How many times better than `other`, by medians."""
    for candidate in rows:
        if candidate["kernel"] == row["kernel"] and candidate["contestant"] == other:
            if candidate is row:
                return ""
            pair = row["median"], candidate["median"]
            better = pair[1] / pair[0] if row["unit"] == "us" else pair[0] / pair[1]
            return f"{better:.2f}x"
    return ""


def main():
    arguments = parse_arguments()
    quick = os.environ.get("QUICK", "0") not in ("", "0")
    threads = int(os.environ.get("THREADS", len(os.sched_getaffinity(0))))
    bench = Bench(Path(arguments.build).resolve(), threads, 3 if quick else 15,
                  0.05 if quick else 0.2)
    rows, other_rows = [], []
    missing = False
    for name in selected_kernels():
        say(f"running {name} ...")
        if name == COMPILE:
            other_rows += compile_time.run(ROOT, bench.programs / "bench_compile",
                                           bench.environment, quick)
            continue
        if name == CALL_COST:
            other_rows += call_cost.run(ROOT, bench.programs, bench.environment, quick)
            continue
        kernel_rows = rows_of(name, KERNELS[name], bench.run(name, KERNELS[name]))
        missing = missing or not any(r["contestant"] == "kernelmill" for r in kernel_rows)
        rows += kernel_rows
    if rows:
        print_table(rows, quick, threads)
    output = Path(arguments.output or ROOT / "build" / "bench" / "results.json")
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(rows + other_rows, indent=1) + "\n")
    print(f"written: {output}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
