"""What one call costs from each language, over the C ABI itself. See bench/call_cost/README.md."""
import json
import os
import statistics
import subprocess
import sys

from driver.kernels import CALL_COST

LANGUAGES = ("c", "cpp", "rust", "go", "guda", "zig")
# How much more than C a call may cost, in nanoseconds.
BOUNDS = {"cpp": 2.0, "rust": 2.0, "zig": 2.0, "go": 60.0, "guda": 90.0}


def values_of(program, kernel, environment):
    """{metric: nanoseconds} of one run of a program."""
    done = subprocess.run([str(program), str(kernel)], text=True, capture_output=True,
                          env={**os.environ, **environment}, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{program.name}: {done.stdout[-500:]}{done.stderr[-500:]}")
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {answer["metric"]: answer["value"] for answer in answers}


def measure(programs, kernel, environment, repeats):
    """{language: {metric: [nanoseconds of each run]}}, the languages in turn."""
    times = {language: {} for language in programs}
    for _ in range(repeats):
        for language, program in programs.items():
            for metric, value in values_of(program, kernel, environment).items():
                times[language].setdefault(metric, []).append(value)
    return times


def rows_of(times):
    """Rows of results.json; `bound` is what C needs, plus what the language may add."""
    rows = []
    for language, metrics in times.items():
        for metric, values in metrics.items():
            base = times.get("c", {}).get(metric)
            bound = min(base) + BOUNDS[language] if base and language in BOUNDS else None
            rows.append({"kernel": CALL_COST, "contestant": language, "metric": metric,
                         "unit": "ns", "best": min(values), "median": statistics.median(values),
                         "bound": bound})
    return rows


def report(rows):
    print(f"\n{CALL_COST}: nanoseconds per call, the least of each program's batches")
    print(f"  {'metric':<16}{'language':<10}{'best':>9}{'median':>9}{'over C':>9}{'allowed':>9}")
    c_best = {row["metric"]: row["best"] for row in rows if row["contestant"] == "c"}
    for row in sorted(rows, key=lambda row: row["metric"]):
        language, base = row["contestant"], c_best.get(row["metric"])
        over = "" if base is None or language == "c" else f"{row['best'] - base:+.1f}"
        allowed = f"{BOUNDS[language]:.0f}" if language in BOUNDS else ""
        print(f"  {row['metric']:<16}{language:<10}{row['best']:>9.1f}{row['median']:>9.1f}"
              f"{over:>9}{allowed:>9}")


def run(root, folder, environment, quick):
    programs = {}
    for language in LANGUAGES:
        program = folder / f"bench_call_cost_{language}"
        if program.exists():
            programs[language] = program
        else:
            print(f"{CALL_COST}: {language} is missing: {program.name} is not built",
                  file=sys.stderr)
    kernel = root / "bench" / "call_cost" / "empty.ptx"
    rows = rows_of(measure(programs, kernel, environment, 2 if quick else 9))
    report(rows)
    return rows
