#!/usr/bin/env python3
"""A runtime library exports every name of NVIDIA's with its version, and nothing else."""

import re
import subprocess
import sys


def main():
    library, table, major = sys.argv[1:]
    soname = f"libcudart.so.{major}"
    wanted = set(re.findall(r"^KM_CUDART_FUNCTION\((\w+)\)$", open(table).read(), re.M))
    listing = subprocess.run(
        ["nm", "-D", "--defined-only", "--with-symbol-versions", library],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    found = {}
    for line in listing.splitlines():
        name, _, version = line.split()[2].partition("@@")
        if line.split()[1] != "A":  # the version's own symbol
            found[name] = version
    for name in sorted(wanted - set(found)):
        print(f"not exported: {name}")
    for name in sorted(set(found) - wanted):
        print(f"exported without being a name of the runtime's: {name}")
    unversioned = sorted(name for name, version in found.items() if version != soname)
    for name in unversioned:
        print(f"{name} has version '{found[name]}'")
    dynamic = subprocess.run(
        ["readelf", "-d", library], capture_output=True, text=True, check=True
    ).stdout
    is_named = f"[{soname}]" in dynamic
    if not is_named:
        print(f"the SONAME is not {soname}")
    return int(wanted != set(found) or bool(unversioned) or not is_named or len(wanted) < 400)


sys.exit(main())
