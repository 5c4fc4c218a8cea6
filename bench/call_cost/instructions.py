#!/usr/bin/env python3
"""Instructions that calls of the C contestant take, counted by Valgrind's callgrind.

instructions.py [--build build/release]: a line for each function of the C ABI, counted in the
thread that calls it. Valgrind knows no AVX-512, so the kernel is made for AVX2; being empty, it has
next to no code.
"""
import argparse
import os
import pathlib
import re
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FUNCTIONS = ("km_stream_query", "km_launch_kernel", "km_stream_synchronize")


def count(program, function, folder):
    """(instructions, calls) of `function` and all that it calls."""
    profile = folder / function
    environment = {**os.environ, "KM_CPU_ISA": "avx2", "KM_CACHE_DIR": "off"}
    subprocess.run(["valgrind", "--tool=callgrind", f"--toggle-collect={function}",
                    f"--callgrind-out-file={profile}", program, HERE / "empty.ptx"],
                   env=environment, check=True, capture_output=True)
    text = profile.read_text()
    total = int(re.search(r"^(?:totals|summary): (\d+)", text, re.M).group(1))
    name = re.search(rf"\((\d+)\) {function}$", text, re.M).group(1)
    calls = re.findall(rf"^cfn=\({name}\).*\ncalls=(\d+)", text, re.M)
    return total, sum(map(int, calls))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", default="build/release", type=pathlib.Path)
    program = parser.parse_args().build.resolve() / "bench" / "bench_call_cost_c"
    with tempfile.TemporaryDirectory() as folder:
        for function in FUNCTIONS:
            total, calls = count(program, function, pathlib.Path(folder))
            print(f"{function}: {total / calls:.0f} instructions each, {calls} calls")


if __name__ == "__main__":
    main()
