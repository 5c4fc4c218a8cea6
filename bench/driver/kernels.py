"""The benchmarks: sizes, units and the bound that each is held against.

A new one is a folder kernels/<name> with kernel.cu, kernel.cl, device.cpp and one source file for
each other contestant, and a row here.
"""
from dataclasses import dataclass

from driver import bounds
from driver.bounds import Bound

K, M = 1 << 10, 1 << 20


@dataclass
class Kernel:
    benchmark: str  # as the programs register it
    size: int       # what it counts is the benchmark's business
    unit: str
    bound: Bound
    # (size, number of elements) of each point of the plot over sizes
    scaling: tuple = ()

    @property
    def smaller_is_better(self):
        return self.unit == "us"


def linear(*sizes):
    return tuple((size, size) for size in sizes)


def square(*edges):
    return tuple((edge, edge * edge) for edge in edges)


ELEMENTS = linear(K, 4 * K, 16 * K, 64 * K, 256 * K, M, 4 * M, 16 * M, 64 * M)

KERNELS = {
    "launch_sync": Kernel("launch", 1, "us", bounds.fork_join("launch", 1)),
    "launch_tiny": Kernel("launch", 256, "us", bounds.fork_join("launch", 256),
                          linear(1, 4, 16, 64, 256, K, 4 * K)),
    "launch_pipelined": Kernel("launch_pipelined", 1000, "us",
                               bounds.fork_join("launch_pipelined", 1000)),
    "launch_chain": Kernel("launch_chain", 100, "us", bounds.fork_join("launch_chain", 100)),
    "saxpy_dram": Kernel("saxpy", 64 * M, "GB/s", bounds.triad(64 * M), ELEMENTS),
    "saxpy_l2": Kernel("saxpy", 256 * K, "GB/s", bounds.triad(256 * K)),
    "nbody": Kernel("nbody", 8 * K, "Ginter/s", bounds.NBODY, linear(K, 2 * K, 4 * K, 8 * K)),
    "nbody_rsqrt": Kernel("nbody_rsqrt", 8 * K, "Ginter/s", bounds.NBODY_RSQRT),
    "mandelbrot": Kernel("mandelbrot", K, "Giter/s", bounds.MANDELBROT,
                         square(32, 64, 128, 256, 512, K, 2 * K)),
    "sgemm_tiled16": Kernel("sgemm_tiled16", K, "GFLOP/s", bounds.MULTIPLY_ADDS,
                            square(64, 128, 256, 512, K)),
    "sgemm_block64": Kernel("sgemm_block64", K, "GFLOP/s", bounds.MULTIPLY_ADDS,
                            square(64, 128, 256, 512, K)),
    "reduce_tree": Kernel("reduce_tree", 16 * M, "GB/s", bounds.read(16 * M), ELEMENTS),
    "reduce_shfl": Kernel("reduce_shfl", 16 * M, "GB/s", bounds.read(16 * M), ELEMENTS),
    "scan": Kernel("scan", 16 * M, "GB/s", bounds.copy(16 * M), ELEMENTS),
    "histogram_shared": Kernel("histogram_shared", 64 * M, "GB/s", bounds.read(16 * M), ELEMENTS),
    "histogram_global": Kernel("histogram_global", 64 * M, "GB/s", bounds.LOCKED_ADDS),
    "spmv_scalar": Kernel("spmv_scalar", M, "GB/s", bounds.spmv(M),
                          linear(K, 4 * K, 16 * K, 64 * K, 256 * K, M)),
    "spmv_vector": Kernel("spmv_vector", M, "GB/s", bounds.spmv(M),
                          linear(K, 4 * K, 16 * K, 64 * K, 256 * K, M)),
    "stencil7": Kernel("stencil7", 256, "GB/s", bounds.copy(16 * M),
                       tuple((edge, edge ** 3) for edge in (32, 64, 128, 256, 384))),
    "black_scholes": Kernel("black_scholes", 4 * M, "Mopt/s",
                            bounds.fast_math("black_scholes", 4 * M), ELEMENTS[:-1]),
    "transpose": Kernel("transpose", 4 * K, "GB/s", bounds.copy(16 * M),
                        square(32, 128, 512, K, 2 * K, 4 * K, 8 * K)),
    "sincos_exp": Kernel("sincos_exp", 16 * M, "Melem/s", bounds.fast_math("sincos_exp", 16 * M),
                         ELEMENTS),
    "memcpy_64m": Kernel("memcpy", 64 * M, "GB/s", bounds.copy(16 * M), ELEMENTS),
    "memset_64m": Kernel("memset", 64 * M, "GB/s", bounds.fill(16 * M), ELEMENTS),
}
COMPILE, WARM = "compile_cold", "compile_warm"
CALL_COST = "call_cost"
GUDA = "guda"
COMM = "comm"
