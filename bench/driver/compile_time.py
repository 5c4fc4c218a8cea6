"""Cold compile time per kernel, after NVRTC."""
import json
import os
import subprocess
from pathlib import Path

from driver.kernels import COMPILE


def compile_times(program, files, environment, repeats):
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


def demo_and_test_kernels(root):
    demo = sorted((root / "examples" / "demo").glob("*.cu"))
    tests = sorted((root / "tests" / "kernels").glob("*.cu"))
    return demo, tests


def report(demo, tests):
    print(f"\n{COMPILE}: milliseconds from PTX to code, one cold process per file")
    for (file, kernel), milliseconds in sorted(demo.items()):
        print(f"  {file:<16}{kernel:<28}{milliseconds:8.1f}")
    if tests:
        values = list(tests.values())
        print(f"  {len(values)} test kernels: p50 {quantile(values, 0.5):.1f}, "
              f"p90 {quantile(values, 0.9):.1f}, most {max(values):.1f}")


def rows_of(demo, tests):
    rows = []
    for name, times in (("demo", demo), ("tests", tests)):
        if not times:
            continue
        values = list(times.values())
        for metric, value in (("p50", quantile(values, 0.5)), ("p90", quantile(values, 0.9)),
                              ("most", max(values))):
            rows.append({"kernel": COMPILE, "contestant": "kernelmill",
                         "metric": f"{name} {metric}", "unit": "ms", "best": value,
                         "median": value,
                         "bound": 60.0 if name == "demo" else None})
    return rows


def run(root, program, environment, quick):
    demo_files, test_files = demo_and_test_kernels(Path(root))
    demo = compile_times(program, demo_files, environment, 1 if quick else 5)
    tests = {} if quick else compile_times(program, test_files, environment, 1)
    report(demo, tests)
    return rows_of(demo, tests)
