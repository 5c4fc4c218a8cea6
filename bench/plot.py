#!/usr/bin/python3
"""Draws the figures of a results.json as SVG files beside it: plot.py RESULTS.

Runs by the system's Python, for which Debian's python3-matplotlib is installed.
"""
import json
import sys
from pathlib import Path

try:
    import matplotlib
except ImportError:
    sys.exit("no plots: python3-matplotlib is missing (make bench installs it)")
matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402

COLOURS = {"kernelmill": "#d62728", "pocl": "#1f77b4", "intel": "#17becf", "openmp": "#2ca02c",
           "openmp_fast": "#98df8a", "spmd": "#9467bd", "openblas": "#8c564b", "libc": "#7f7f7f"}


def speed(row):
    """What is larger when better."""
    return 1 / row["median"] if row["unit"] == "us" else row["median"]


def save(figure, path):
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    print(f"written: {path}")


def draw_speeds(results, path):
    """Each contestant's speed beside Kernelmill's, all kernels in one figure."""
    rows = [row for row in results["rows"] if row["contestant"] in COLOURS and "metric" not in row]
    own = {row["kernel"]: speed(row) for row in rows if row["contestant"] == "kernelmill"}
    kernels = [kernel for kernel in dict.fromkeys(row["kernel"] for row in rows) if kernel in own]
    names = [name for name in COLOURS if any(row["contestant"] == name for row in rows)]
    if not kernels:
        return
    figure, axes = pyplot.subplots(layout="constrained", figsize=(6 + 0.6 * len(kernels), 5))
    width = 0.8 / len(names)
    for i, name in enumerate(names):
        bars = [(kernels.index(row["kernel"]) + (i + 0.5) * width - 0.4,
                 speed(row) / own[row["kernel"]])
                for row in rows if row["contestant"] == name and row["kernel"] in own]
        axes.bar([x for x, _ in bars], [y for _, y in bars], width, color=COLOURS[name], label=name)
    axes.set_yscale("log")
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_xticks(range(len(kernels)), kernels, rotation=40, ha="right")
    axes.set_ylabel("speed, Kernelmill = 1")
    figure.suptitle(f"{results['machine']['processor']}, {results['threads']} threads")
    axes.legend(ncol=len(names), fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0))
    save(figure, path)


def draw_sizes(results, kernel, path):
    """One kernel over its sizes, with all threads."""
    points = [point for point in results["scaling"]
              if point["kernel"] == kernel and point["elements"] is not None]
    if not points:
        return
    figure, axes = pyplot.subplots(layout="constrained", figsize=(6, 4))
    for name, colour in COLOURS.items():
        line = sorted((p["elements"], p["median"]) for p in points if p["contestant"] == name)
        if line:
            axes.plot(*zip(*line), marker="o", color=colour, label=name)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("elements")
    axes.set_ylabel(points[0]["unit"])
    axes.set_title(f"{kernel}, {results['threads']} threads")
    axes.legend(fontsize="small")
    save(figure, path)


def draw_threads(results, path):
    """How many times faster all threads are than one."""
    rows = {(row["kernel"], row["contestant"]): speed(row) for row in results["rows"]
            if row["contestant"] in COLOURS}
    single = [point for point in results["scaling"] if point["elements"] is None]
    kernels = list(dict.fromkeys(point["kernel"] for point in single))
    if not kernels:
        return
    figure, axes = pyplot.subplots(layout="constrained", figsize=(4 + 0.5 * len(kernels), 4))
    for name, colour in COLOURS.items():
        line = [(kernels.index(p["kernel"]), rows[p["kernel"], name] / speed(p))
                for p in single if p["contestant"] == name and (p["kernel"], name) in rows]
        if line:
            axes.plot(*zip(*line), "o", color=colour, label=name)
    axes.axhline(results["threads"], color="black", linewidth=0.8)
    axes.set_xticks(range(len(kernels)), kernels, rotation=40, ha="right")
    axes.set_ylabel(f"speed with {results['threads']} threads, with one = 1")
    axes.legend(fontsize="small")
    save(figure, path)


def main():
    path = Path(sys.argv[1])
    results = json.loads(path.read_text())
    draw_speeds(results, path.with_name("speeds.svg"))
    draw_threads(results, path.with_name("threads.svg"))
    for kernel in dict.fromkeys(point["kernel"] for point in results["scaling"]):
        draw_sizes(results, kernel, path.with_name(f"sizes_{kernel}.svg"))


if __name__ == "__main__":
    main()
