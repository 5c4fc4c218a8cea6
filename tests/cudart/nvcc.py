#!/usr/bin/env python3
"""Programs that nvcc builds run under `kernelmill exec`.

nvcc.py NVCC COMMAND CUDA SOURCES FOLDER: CUDA is the folder of libcuda.so.1, FOLDER takes programs.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

EXPECTED = "wrong 0 counter 1005 total 42 sum 32640 refused 1\n"
# Programs of graphs, which write nothing else.
GRAPHS_EXPECTED = {
    "graphs": "sum 1003 left 0 failed 0\n",
    "updates": "sum 320 of 320 rounds 4 failed 0\n",
}
# The launch that is refused is the first failed call, which is shown.
REFUSAL = re.compile(r"kernelmill: cuLaunchKernel: .* expected 1 to 1024 .*\n")
# name -> options and sources
PROGRAMS = {
    "shared": ["-cudart", "shared", "-DKM_ONE_UNIT", "units.cu"],
    "static": ["-cudart", "static", "-DKM_ONE_UNIT", "units.cu"],
    "per_thread": [
        "-cudart", "shared", "-default-stream", "per-thread", "-DKM_ONE_UNIT", "units.cu",
    ],
    "relocatable": ["-cudart", "shared", "-rdc=true", "units.cu", "helper.cu"],
    "graphs": ["-cudart", "shared", "-rdc=true", "graphs.cu"],
    "updates": ["-cudart", "shared", "-rdc=true", "updates.cu"],
}  # fmt: skip


def is_right(name, done):
    if name in GRAPHS_EXPECTED:
        return (done.returncode, done.stdout, done.stderr) == (0, GRAPHS_EXPECTED[name], "")
    return (done.returncode, done.stdout) == (0, EXPECTED) and REFUSAL.fullmatch(done.stderr)


def main():
    nvcc, command, cuda, sources, folder = sys.argv[1:]
    told = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True).stdout
    major = re.search(r"release (\d+)\.", told).group(1)
    libraries = Path(cuda) / major
    if not libraries.is_dir():
        print(f"there is no runtime for CUDA {major}: nothing is tested")
        return 0
    os.makedirs(folder, exist_ok=True)
    failed = 0
    for name, options in PROGRAMS.items():
        program = Path(folder) / name
        words = [nvcc, "-arch=compute_75", f"-L{libraries}", "-o", str(program), *options]
        subprocess.run(words, cwd=sources, check=True)
        done = subprocess.run([command, "exec", "--", program], capture_output=True, text=True)
        if not is_right(name, done):
            print(f"{name}: {done.returncode}: {done.stdout}{done.stderr}")
            failed = 1
    return failed


sys.exit(main())
