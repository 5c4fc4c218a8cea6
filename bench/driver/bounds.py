"""What a perfect program could reach, computed from probes of the same run."""
from dataclasses import dataclass
from typing import Callable


@dataclass
class Bound:
    text: str
    probes: dict  # name -> (program, benchmark, size)
    compute: Callable  # (best of each probe, facts of the contestants) -> number in the unit


def _probes(*names, size=0):
    return {name: ("probes", name, size) for name in names}


def fork_join(benchmark, size):
    """The OpenMP contestant of the same benchmark."""
    return Bound("OpenMP fork-join", {"fork_join": ("openmp", benchmark, size)},
                 lambda probe, _facts: probe["fork_join"])


def _best_of(text, *names, size):
    return Bound(text, _probes(*names, size=size), lambda probe, _facts: max(probe.values()))


def triad(size):
    return _best_of("STREAM triad", "triad", "triad_streaming", size=size)


def copy(size):
    return _best_of("copy", "copy", "copy_streaming", size=size)


def fill(size):
    return _best_of("fill", "fill", "fill_streaming", size=size)


def read(size):
    return _best_of("read bandwidth", "read", size=size)


def _nbody(probe, _facts):
    # 3 subtractions, 3 multiply-adds for the distance, 3 products, 3 multiply-adds for the sums on
    # the multiply-add pipes; one root and one division on the divider, which both share.
    multiply_add = probe["fma"] / 12
    divider = 1 / (1 / probe["divide"] + 1 / probe["square_root"])
    return min(multiply_add, divider)


NBODY = Bound("multiply-add pipes or divider", _probes("fma", "divide", "square_root"), _nbody)

# The root is an estimate and a Newton step: two products, a multiply-add, a product.
NBODY_RSQRT = Bound("multiply-add pipes", _probes("fma"), lambda probe, _facts: probe["fma"] / 16)

# Two squares, their sum and difference, two more sums and a multiply-add per iteration.
MANDELBROT = Bound("multiply-add pipes x lane efficiency", _probes("fma"),
                   lambda probe, facts: probe["fma"] / 7 * facts["lane_efficiency"])

MULTIPLY_ADDS = Bound("multiply-add pipes", _probes("fma"),
                      lambda probe, _facts: 2 * probe["fma"])

# Each byte is one locked addition.
LOCKED_ADDS = Bound("rate of locked additions", _probes("locked_add"),
                    lambda probe, _facts: probe["locked_add"])


def fast_math(benchmark, size):
    """The OpenMP contestant with fast-math, which calls libmvec."""
    return Bound("libmvec, fast-math", {"libmvec": ("openmp_fast", benchmark, size)},
                 lambda probe, _facts: probe["libmvec"])


def spmv(rows):
    """Memory, or the rate of gathers from a vector as long as the matrix has rows."""
    probes = {**triad(64 << 20).probes, **_probes("gather", size=rows)}
    return Bound("STREAM triad or gathers", probes, lambda probe, facts: min(
        max(probe["triad"], probe["triad_streaming"]),
        probe["gather"] * facts["bytes_per_gather"]))
