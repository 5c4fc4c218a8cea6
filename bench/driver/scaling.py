"""Each kernel over its sizes, and with one thread and with all."""
from driver.kernels import KERNELS
from driver.measure import Bench, rows_of, say


def run(bench, names):
    """Points for results.json: rows with the size, the number of elements and of threads."""
    points = []
    few = Bench(bench.deps, bench.build, bench.threads, 3, bench.least_seconds / 4)
    single = Bench(bench.deps, bench.build, 1, 3, bench.least_seconds / 4)
    for name, kernel in KERNELS.items():
        if name not in names:
            continue
        say(f"scaling {name} ...")
        for size, elements in kernel.scaling:
            points += _points(few, name, kernel, size, elements)
        points += _points(single, name, kernel, kernel.size, None)
    return points


def _points(bench, name, kernel, size, elements):
    rows = rows_of(name, kernel, bench.run(name, kernel, size, probes=False))
    return [{**row, "size": size, "elements": elements, "threads": bench.threads} for row in rows]
