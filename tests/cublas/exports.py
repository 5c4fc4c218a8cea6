#!/usr/bin/env python3
"""A library exports every name of NVIDIA's with its version, and nothing else.

exports.py LIBRARY TABLE SONAME [NVIDIA'S LIBRARY]: the last one's names are compared too.
"""

import re
import subprocess
import sys


def names_of(library):
    listing = subprocess.run(
        ["nm", "-D", "--defined-only", "--with-symbol-versions", library],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    found = {}
    for line in listing.splitlines():
        name, _, version = line.split()[-1].partition("@@")
        if line.split()[-2] != "A":  # the version's own symbol
            found[name] = version
    return found


def main():
    library, table, soname, *others = sys.argv[1:]
    wanted = set(re.findall(r"^KM_\w+_FUNCTION\((\w+)\)$", open(table).read(), re.M))
    for other in others:
        wanted |= set(names_of(other))
    found = names_of(library)
    for name in sorted(wanted - set(found)):
        print(f"not exported: {name}")
    for name in sorted(set(found) - wanted):
        print(f"exported without being a name of NVIDIA's: {name}")
    unversioned = sorted(name for name, version in found.items() if version not in (soname, ""))
    for name in unversioned:
        print(f"{name} has version '{found[name]}'")
    dynamic = subprocess.run(
        ["readelf", "-d", library], capture_output=True, text=True, check=True
    ).stdout
    is_named = f"[{soname}]" in dynamic
    if not is_named:
        print(f"the SONAME is not {soname}")
    return int(wanted != set(found) or bool(unversioned) or not is_named or len(wanted) < 10)


sys.exit(main())
