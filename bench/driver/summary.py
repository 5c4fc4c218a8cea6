"""Where Kernelmill stands against each peer, and the kernels on which it is behind."""
from driver.table import BASE, by_kernel, geometric_mean, number, times_better

# Less than this share of a peer's speed counts as behind.
BEHIND = 0.9


def lines(rows):
    return [
        _against(rows, "PoCL", ("pocl",), worse_of=("pocl", "spmd")),
        _against(rows, "Intel's OpenCL", ("intel",), worse_of=("intel",)),
        _against(rows, "exact OpenMP", ("openmp",), worse_of=("openmp", "spmd")),
        _against(rows, "the better OpenMP, fast-math included", ("openmp", "openmp_fast"),
                 worse_of=("openmp", "openmp_fast")),
        _against(rows, "the SPMD models", ("spmd",), worse_of=("spmd",)),
    ]


def metrics(rows):
    """A line for each benchmark and contestant that has several figures, call_cost and the like."""
    groups = {}
    for row in rows:
        title = f"{row['kernel']}, {row['contestant']}, {row['unit']}"
        groups.setdefault(title, []).append(f"{row['metric']} {number(row['median'])}")
    return [f"{title}: {', '.join(figures)}" for title, figures in groups.items()]


def _against(rows, title, better_of, worse_of):
    """The mean against the better of some; and what is behind even the worse of some."""
    ratios, behind = [], []
    for kernel, found in by_kernel(rows).items():
        own = found.get(BASE)
        peers = [times_better(own, found[name]) for name in better_of if own and name in found]
        if not peers:
            continue
        ratios.append(min(peers))
        least = max(times_better(own, found[name]) for name in worse_of if name in found)
        if least < BEHIND:
            behind.append(f"{kernel} {least:.2f}x")
    mean = geometric_mean(ratios)
    if mean is None:
        return f"against {title}: not measured"
    text = f"against {title}: {mean:.2f}x over {len(ratios)} kernels"
    allowed = ("" if len(worse_of) == 1 else "the worse of ") + " and ".join(worse_of)
    return text + (f"; behind {allowed}: {', '.join(behind)}" if behind else "")
