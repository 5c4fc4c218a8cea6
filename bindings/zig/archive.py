#!/usr/bin/env python3
"""Makes the archive of the Zig package, which `zig fetch` takes: archive.py OUTPUT.tar.gz.

It holds what build.zig.zon lists, and is the same for the same files: so is its hash.
"""

import gzip
import io
import re
import sys
import tarfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def manifest() -> tuple:
    """Name, version and paths of the package."""
    text = (FOLDER / "build.zig.zon").read_text()
    name = re.search(r"\.name = \.(\w+)", text)[1]
    version = re.search(r'\.version = "([^"]+)"', text)[1]
    paths = re.findall(r'"([^"]+)"', re.search(r"\.paths = \.\{(.*?)\}", text, re.S)[1])
    return name, version, paths


def files(paths: list) -> list:
    found = []
    for path in paths:
        place = FOLDER / path
        found += sorted(place.rglob("*")) if place.is_dir() else [place]
    return [file for file in found if file.is_file() and ".zig-cache" not in file.parts]


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    name, version, paths = manifest()
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for file in files(paths):
            content = file.read_bytes()
            entry = tarfile.TarInfo(f"{name}-{version}/{file.relative_to(FOLDER)}")
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
    Path(sys.argv[1]).write_bytes(gzip.compress(data.getvalue(), mtime=0))
    return 0


if __name__ == "__main__":
    sys.exit(main())
