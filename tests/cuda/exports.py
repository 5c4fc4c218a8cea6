#!/usr/bin/env python3
"""The CUDA driver library exports every name of NVIDIA's, and nothing else."""

import re
import subprocess
import sys


def main():
    library, *tables = sys.argv[1:]
    wanted = set()
    for table in tables:
        wanted.update(re.findall(r"^KM_CUDA_\w+\((\w+)", open(table).read(), re.M))
    listing = subprocess.run(
        ["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True
    ).stdout
    found = {line.split()[2].split("@")[0] for line in listing.splitlines()}
    for name in sorted(wanted - found):
        print(f"not exported: {name}")
    for name in sorted(found - wanted):
        print(f"exported without being a name of the driver's: {name}")
    dynamic = subprocess.run(
        ["readelf", "-d", library], capture_output=True, text=True, check=True
    ).stdout
    if "[libcuda.so.1]" not in dynamic:
        print("the SONAME is not libcuda.so.1")
    return int(wanted != found or "[libcuda.so.1]" not in dynamic)


sys.exit(main())
