#!/usr/bin/env python3
"""The kernels of the benchmarks on a Vulkan device, beside the CPU engine: the time of one run, and
how many times as long that is. Every result is checked; nothing is said about how fast a device has
to be.

Environment: KERNELS=a,b runs only these; THREADS=n gives the CPU n threads.
"""
import argparse
import os
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))

from driver.contestant import Contestant, Failed, cpus_for, environment_for  # noqa: E402

# Benchmark and size: small enough for a device that is software.
SIZES = {
    "nbody": 2048,
    "sgemm_tiled16": 256,
    "mandelbrot": 256,
    "reduce_tree": 1 << 20,
    "histogram_shared": 1 << 20,
}
SAMPLES, LEAST_SECONDS = 3, 0.2


def value_on(device, program, benchmark, environment, cpus):
    """The benchmark's figure on a device, of which more is better."""
    command = [str(program), benchmark, str(SIZES[benchmark]), str(LEAST_SECONDS)]
    contestant = Contestant.start(device, command,
                                  {**environment, "KM_TEST_BENCH_DEVICE": device}, cpus)
    try:
        for _ in range(SAMPLES):
            contestant.sample()
        return statistics.median(contestant.values())
    finally:
        contestant.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="the build folder")
    parser.add_argument("--device", default="vulkan:0", help="the device beside the CPU")
    arguments = parser.parse_args()
    names = [name for name in os.environ.get("KERNELS", "").split(",") if name] or list(SIZES)
    unknown = [name for name in names if name not in SIZES]
    if unknown:
        sys.exit(f"KERNELS: no benchmark '{unknown[0]}'; there are {', '.join(SIZES)}")
    threads = int(os.environ.get("THREADS", len(os.sched_getaffinity(0))))
    folder = Path(arguments.build).resolve() / "bench"
    environment, cpus = environment_for(threads, folder), cpus_for(threads)
    failures = 0
    print(f"{'kernel':<18}{'size':>9}  times the CPU engine's time on {arguments.device}")
    for name in names:
        values = {}
        for device in ("cpu", arguments.device):
            try:
                values[device] = value_on(device, folder / "bench_kernelmill", name, environment,
                                          cpus)
            except Failed as failure:
                failures += 1
                print(f"{name:<18}{SIZES[name]:>9}  {device}: {failure}")
        if len(values) == 2:
            ratio = values["cpu"] / values[arguments.device]
            print(f"{name:<18}{SIZES[name]:>9}  {ratio:.1f}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
