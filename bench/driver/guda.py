"""The benchmarks of the GUDA chapters through Go's package guda: bench/guda."""
import json
import os
import subprocess
import sys

from driver.kernels import GUDA

# The figures that GUDA is documented to reach.
DOCUMENTED = {"vector_add": 0.50, "launch": 6.4}


def run(folder, environment, quick):
    """Rows of results.json; none where the program is not built."""
    program = folder / "bench_guda"
    if not program.exists():
        print(f"{GUDA}: {program.name} is not built", file=sys.stderr)
        return []
    done = subprocess.run([str(program), "3" if quick else "15"], text=True, capture_output=True,
                          env={**os.environ, **environment}, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{program.name}: {done.stdout[-500:]}{done.stderr[-500:]}")
    rows = [{"kernel": GUDA, "bound": None, **json.loads(line)}
            for line in done.stdout.splitlines() if line.startswith("{")]
    report(rows)
    return rows


def report(rows):
    print(f"\n{GUDA}: the benchmarks of the chapters, best and median")
    for row in rows:
        own = DOCUMENTED.get(row["metric"])
        ratio = own and (own / row["median"] if row["unit"] == "us" else row["median"] / own)
        against = f"  {ratio:.0f} times GUDA's own {own}" if own else ""
        print(f"  {row['metric']:<12}{row['contestant']:<14}{row['best']:>9.2f}"
              f"{row['median']:>9.2f} {row['unit']}{against}")
