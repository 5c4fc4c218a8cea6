#!/usr/bin/env python3
"""A library exports every name of NVIDIA's with its version, and nothing else.

exports.py [--versioned] [--least N] [--suffixes S... --besides NAME...] LIBRARY TABLE SONAME
[NVIDIA'S LIBRARY]: the last one's names are compared too; each name has the SONAME for its version,
or, but for --versioned, none.
"""

import argparse
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
    parser = argparse.ArgumentParser()
    parser.add_argument("--versioned", action="store_true")
    parser.add_argument("--least", type=int, default=10, help="how many names there are at least")
    parser.add_argument("--suffixes", nargs="+", default=[],
                        help="each name is there as __NAME_SUFFIX, too")  # fmt: skip
    parser.add_argument("--besides", nargs="+", default=[], help="names that the table lacks")
    parser.add_argument("library")
    parser.add_argument("table")
    parser.add_argument("soname")
    parser.add_argument("others", nargs="*")
    options = parser.parse_args()
    library, soname = options.library, options.soname
    versions = {soname} if options.versioned else {soname, ""}
    wanted = set(re.findall(r"^KM_\w+_FUNCTION\((\w+)[,)]", open(options.table).read(), re.M))
    wanted |= {f"__{name}_{suffix}" for name in wanted for suffix in options.suffixes}
    wanted |= set(options.besides)
    for other in options.others:
        wanted |= set(names_of(other))
    found = names_of(library)
    for name in sorted(wanted - set(found)):
        print(f"not exported: {name}")
    for name in sorted(set(found) - wanted):
        print(f"exported without being a name of NVIDIA's: {name}")
    unversioned = sorted(name for name, version in found.items() if version not in versions)
    for name in unversioned:
        print(f"{name} has version '{found[name]}'")
    dynamic = subprocess.run(
        ["readelf", "-d", library], capture_output=True, text=True, check=True
    ).stdout
    is_named = f"[{soname}]" in dynamic
    if not is_named:
        print(f"the SONAME is not {soname}")
    is_short = len(wanted) < options.least
    return int(wanted != set(found) or bool(unversioned) or not is_named or is_short)


sys.exit(main())
