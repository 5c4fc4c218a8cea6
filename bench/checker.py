#!/usr/bin/env python3
"""The slow-down by the checker's tools: `bench/checker.py build/release/bin/kernelmill`.

Each kernel is launched by `kernelmill run`, without tests of its accesses and under each tool, and
the least time of its launches counts. Prints the table of docs/guide/checker.md.
"""

import argparse
import json
import math
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

KERNELS = Path(__file__).resolve().parent / "kernels"
TOOLS = ("memory", "init", "race", "streams", "all")
# A case has its name in the table, the folder, and the options of `kernelmill run`.
CASES = (
    ("saxpy, 1M elements", "saxpy",
     "-g 4096 -b 256 -a f32:2 -a zeros:f32[1048576] -a zeros:f32[1048576] -a i32:1048576"),
    ("sums of blocks, 1M elements", "reduce",
     "-k reduce_tree -g 2048 -b 256 -a zeros:f32[1048576] -a zeros:f32[2048] -a i32:1048576"),
    ("n-body, 2048 bodies", "nbody",
     "-k nbody -g 8 -b 256 -a zeros:f32[8192] -a zeros:f32[8192] -a i32:2048"),
    ("product of matrices, 256 x 256, tiles", "sgemm",
     "-k sgemm_tiled16 -g 16,16 -b 16,16 -a zeros:f32[65536] -a zeros:f32[65536] "
     "-a zeros:f32[65536] -a i32:256"),
    ("7-point stencil, 128³", "stencil7",
     "-k stencil7 -g 4,16,128 -b 32,8 -a zeros:f32[2097152] -a zeros:f32[2097152] -a i32:128 "
     "-a f32:0.5 -a f32:0.1"),
    ("histogram in shared memory, 1M bytes", "histogram",
     "-k histogram_shared -g 64 -b 256 -a in:WORDS -a zeros:u32[256] -a i32:262144"),
    ("Mandelbrot set, 256 x 256", "mandelbrot",
     "-k mandelbrot -g 8,32 -b 32,8 -a zeros:i32[65536] -a i32:256 -a i32:256 -a i32:256"),
    ("transposition, 512 x 512", "transpose",
     "-k transpose -g 16,16 -b 32,8 -a zeros:f32[262144] -a zeros:f32[262144] -a i32:512"),
)


def write_words(path: Path) -> None:
    """1M random bytes as an array in NumPy's format."""
    words = random.Random(1).randbytes(1 << 20)
    header = f"{{'descr': '<u4', 'fortran_order': False, 'shape': ({len(words) // 4},), }}"
    header = header.ljust(128 - 10 - 1) + "\n"
    magic = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header))
    path.write_bytes(magic + header.encode() + words)


def least_ms(tool: str, folder: str, options: str, launches: int, checks: str) -> float:
    """The least time of a launch. Findings would make it another measurement."""
    environment = {key: value for key, value in os.environ.items() if key != "KM_CHECK"}
    environment["KM_CPU_MEMORY"] = "plain"
    if checks:
        environment["KM_CHECK"] = checks
    command = [tool, "run", KERNELS / folder / "kernel.cu", "--device", "cpu", "--json",
               "--repeat", str(launches), *options.split()]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0 or "kernelmill check:" in done.stderr:
        sys.exit(f"{folder} under '{checks}': {done.stderr}")
    return min(json.loads(done.stdout)["kernel_ms"])


def factor_text(factor: float) -> str:
    return f"{factor:.1f} times" if factor < 9.95 else f"{factor:.0f} times"


def measure(options, words: str) -> None:
    print("| kernel | plain | " + " | ".join(f"`{tool}`" for tool in TOOLS) + " |")
    print("|---" * (len(TOOLS) + 2) + "|")
    factors = {tool: [] for tool in TOOLS}
    for name, folder, arguments in CASES:
        if not re.search(options.only, name):
            continue
        arguments = arguments.replace("WORDS", words)
        times = {checks: least_ms(options.tool, folder, arguments, options.launches, checks)
                 for checks in ("", *TOOLS)}
        row = []
        for tool in TOOLS:
            factors[tool].append(times[tool] / times[""])
            row.append(factor_text(factors[tool][-1]))
        print(f"| {name} | {times['']:.2f} ms | " + " | ".join(row) + " |", flush=True)
    means = (math.exp(math.fsum(map(math.log, all_)) / len(all_)) for all_ in factors.values())
    print("| geometric mean | | " + " | ".join(map(factor_text, means)) + " |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool", help="the command kernelmill")
    parser.add_argument("--launches", type=int, default=27)
    parser.add_argument("--only", default="", help="regular expression: names of kernels")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        words = Path(folder) / "words.npy"
        write_words(words)
        measure(options, str(words))
    return 0


if __name__ == "__main__":
    sys.exit(main())
