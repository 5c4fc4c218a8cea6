"""What comes before a first launch: from PTX, or from OpenCL C, to machine code."""
import json
import os
import shutil
import subprocess
from pathlib import Path

from driver.contestant import Failed
from driver.kernels import COMPILE, KERNELS, WARM
from driver.measure import say

# Those that compile at run time, and the variable that says where each keeps code on disk.
CACHES = {"kernelmill": "KM_CACHE_DIR", "pocl": "POCL_CACHE_DIR", "intel": ""}


def times_of_files(program, files, environment, repeats):
    """{(file, kernel): least milliseconds over fresh processes}, load time of the PTX included."""
    times = {}
    for _ in range(repeats):
        for path in files:
            result = subprocess.run([str(program), str(path)], text=True, capture_output=True,
                                    env={**os.environ, **environment}, check=False)
            for line in result.stdout.splitlines():
                if not line.startswith("{"):
                    continue  # printed by a kernel
                answer = json.loads(line)
                if answer["state"] == "failed":
                    raise RuntimeError(f"{path.name}: {answer['message']}")
                key = (path.name, answer["kernel"])
                total = answer["load_ms"] + answer["compile_ms"]
                times[key] = min(total, times.get(key, total))
            if result.returncode != 0:
                raise RuntimeError(f"{path.name}: {result.stdout[-500:]}{result.stderr[-500:]}")
    return times


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def rows_of(name, contestant, what, values, bound=None):
    figures = {"p50": quantile(values, 0.5), "p90": quantile(values, 0.9), "most": max(values)}
    print(f"  {contestant:<12}{what:<16}{len(values):>4} kernels: " +
          ", ".join(f"{share} {value:.1f}" for share, value in figures.items()))
    return [{"kernel": name, "contestant": contestant, "metric": f"{what} {share}", "unit": "ms",
             "best": value, "median": value, "bound": bound} for share, value in figures.items()]


def files_of(root, quick):
    """The kernels of the demo and of the tests, which only Kernelmill can compile."""
    return (sorted((root / "examples" / "demo").glob("*.cu")),
            [] if quick else sorted((root / "tests" / "kernels").glob("*.cu")))


def run_files(bench, root, name, cache, quick):
    program = bench.programs / "bench_compile"
    environment = {**bench.environment, "KM_CACHE_DIR": cache}
    demo, tests = files_of(root, quick)
    if name == WARM:
        times_of_files(program, demo + tests, environment, 1)
    rows = []
    for what, files, repeats, bound in (("demo", demo, 1 if quick else 5, 60.0),
                                        ("tests", tests, 1, None)):
        if files:
            times = times_of_files(program, files, environment, repeats)
            rows += rows_of(name, "kernelmill", what, list(times.values()), bound)
    return rows


def time_of_benchmark(bench, team, kernel, cache):
    """Loading the program and what the first run takes longer than the second; None without one."""
    size = kernel.scaling[0][0] if kernel.scaling else kernel.size
    setting = {**team.settings[0], CACHES[team.name]: str(cache)} if CACHES[team.name] \
        else team.settings[0]
    contestant = bench.start(team.name, team.program, kernel.benchmark, size, setting)
    contestant.close()
    facts = contestant.facts
    if facts["build_ms"] == 0:
        return None
    return facts["build_ms"] + max(0.0, facts["first_run_ms"] - facts["second_run_ms"])


def times_of_benchmarks(bench, team, cache):
    """{benchmark: milliseconds}, each in a process and with a cache of its own."""
    times = {}
    for kernel in KERNELS.values():
        name = kernel.benchmark
        if name in times:
            continue
        folder = cache / name
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            times[name] = time_of_benchmark(bench, team, kernel, folder)
        except Failed as failure:
            say(f"{COMPILE}: {team.name}: {name}: {failure}")
    return {name: time for name, time in times.items() if time is not None}


def run(root, bench, quick):
    """Cold, and warm from a cache on disk that a run before has filled."""
    scratch = bench.programs / "compile-cache"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    scratch.chmod(0o700)
    rows = []
    print("milliseconds before a first launch: demo and tests from PTX, bench also from OpenCL C")
    for name in (COMPILE, WARM):
        print(f"{name}:")
        cache = "off" if name == COMPILE else str(scratch / "files")
        rows += run_files(bench, Path(root), name, cache, quick)
        for team in bench.teams:
            if team.name in CACHES and team.settings:
                times = times_of_benchmarks(bench, team, scratch / team.name)
                rows += rows_of(name, team.name, "bench", list(times.values()))
    return rows
