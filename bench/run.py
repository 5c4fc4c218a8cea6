#!/usr/bin/env python3
"""Compares Kernelmill with its peers; prints a table, writes results.json and draws plots.

Environment: KERNELS=a,b runs only these; QUICK=1 takes few short samples; THREADS=n uses n threads;
SCALING=0 leaves out the plots over sizes and threads; VECTORS=AVX2 measures that on a machine which
has more, in a build folder configured with KM_BENCH_ARCH=x86-64-v3, without PoCL.
"""
import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))

from driver import (call_cost, comm, compile_time, guda, machine, scaling,  # noqa: E402
                    summary, table)
from driver.kernels import CALL_COST, COMM, COMPILE, GUDA, KERNELS  # noqa: E402
from driver.measure import Bench, rows_of, say  # noqa: E402


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="the build folder")
    parser.add_argument("--deps", default=ROOT / ".deps", type=Path, help="what set-up has brought")
    parser.add_argument("--output", help="results file (default: build/bench/results.json)")
    parser.add_argument("--table", metavar="FILE",
                        help="also put the table into this Markdown file, under the machine's name")
    return parser.parse_args()


def is_set(name, default="0"):
    return os.environ.get(name, default) not in ("", "0")


def selected_kernels():
    names = [name for name in os.environ.get("KERNELS", "").split(",") if name]
    known = [*KERNELS, COMPILE, CALL_COST, GUDA, COMM]
    for name in names:
        if name not in known:
            sys.exit(f"KERNELS: no benchmark '{name}'; there are {', '.join(known)}")
    return names or known


def run_all(bench, library, quick):
    """The rows of the table, those of the benchmarks that have reports of their own, and whether
    all of them ran: what fails does not take with it what was measured before."""
    rows, other_rows, whole = [], [], True
    for name in selected_kernels():
        say(f"running {name} ...")
        try:
            if name == COMPILE:
                other_rows += compile_time.run(ROOT, bench, quick)
            elif name == CALL_COST:
                other_rows += call_cost.run(ROOT, bench.programs, bench.environment, quick)
            elif name == COMM:
                other_rows += comm.run(bench.programs, library, bench.environment)
            elif name == GUDA:
                other_rows += guda.run(bench.programs, bench.environment, quick)
            else:
                rows += rows_of(name, KERNELS[name], bench.run(name, KERNELS[name]))
        except RuntimeError as error:
            say(f"{name} failed: {error}")
            whole = False
    return rows, other_rows, whole


def main():
    arguments = parse_arguments()
    quick = is_set("QUICK")
    if quick and arguments.table:
        sys.exit("--table: the figures of a quick run are not for keeping")
    threads = int(os.environ.get("THREADS", len(os.sched_getaffinity(0))))
    build = Path(arguments.build).resolve()
    machine.require_same_vectors(build)
    bench = Bench(arguments.deps.resolve(), build, threads,
                  3 if quick else 15, 0.05 if quick else 0.2)
    for team in bench.teams:
        if not team.settings:
            forced = team.name == "pocl" and machine.forced_vectors()
            reason = "it cannot be told VECTORS" if forced else "set-up has not brought it"
            say(f"without {team.title}: {reason}")
    rows, other_rows, whole = run_all(bench, build / "lib" / "libkernelmill.so", quick)
    if rows:
        print(table.as_text(rows, bench.teams, machine.line(threads, quick)))
        print("\n".join(summary.lines(rows)))
        if arguments.table:
            table.put(Path(arguments.table), rows, bench.teams, threads,
                      summary.lines(rows) + summary.metrics(other_rows))
    points = []
    if rows and is_set("SCALING", "0" if quick else "1"):
        points = scaling.run(bench, {row["kernel"] for row in rows})
    output = Path(arguments.output or ROOT / "build" / "bench" / "results.json")
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps({"machine": machine.facts(), "threads": threads, "quick": quick,
                                  "rows": rows + other_rows, "scaling": points}, indent=1) + "\n")
    print(f"written: {output}")
    subprocess.run([str(ROOT / "bench" / "plot.py"), str(output)], check=False)
    measured = {row["kernel"] for row in rows if row["contestant"] == "kernelmill"}
    return 0 if whole and measured == {row["kernel"] for row in rows} else 1


if __name__ == "__main__":
    sys.exit(main())
