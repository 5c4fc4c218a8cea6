"""The benchmarks: metric, unit and the bound that each is held against.

A new one is a folder kernels/<name> with kernel.cu, kernel.cl and one source file per contestant,
and a row here. Bounds are computed from probes of the same run; `facts` come from the contestants.
"""
from dataclasses import dataclass
from typing import Callable


@dataclass
class Kernel:
    metric: str
    unit: str
    probes: tuple
    bound: Callable  # (best of each probe, facts) -> number in `unit`
    bound_text: str
    smaller_is_better: bool = False


def triad(probe, _facts):
    return max(probe["triad"], probe["triad_streaming"])


def nbody(probe, _facts):
    # 3 subtractions, 3 multiply-adds for the distance, 3 products, 3 multiply-adds for the sums on
    # the multiply-add pipes; one root and one division on the divider, which both share.
    multiply_add = probe["fma"] / 12
    divider = 1 / (1 / probe["divide"] + 1 / probe["square_root"])
    return min(multiply_add, divider)


def mandelbrot(probe, facts):
    # Two squares, their sum and difference, two more sums and a multiply-add per iteration.
    return probe["fma"] / 7 * facts["lane_efficiency"]


def sgemm(probe, _facts):
    return 2 * probe["fma"]


def fork_join(probe, _facts):
    return probe["fork_join"]


KERNELS = {
    "saxpy_dram": Kernel("bandwidth", "GB/s", ("triad", "triad_streaming"), triad, "STREAM triad"),
    "nbody": Kernel("interactions", "Ginter/s", ("fma", "divide", "square_root"), nbody,
                    "multiply-add pipes or divider"),
    "mandelbrot": Kernel("iterations", "Giter/s", ("fma",), mandelbrot,
                         "multiply-add pipes x lane efficiency"),
    "sgemm_tiled16": Kernel("arithmetic", "GFLOP/s", ("fma",), sgemm, "multiply-add pipes"),
    "launch_sync": Kernel("latency", "us", ("fork_join",), fork_join, "OpenMP fork-join",
                          smaller_is_better=True),
}
COMPILE = "compile_cold"
CALL_COST = "call_cost"
