#!/usr/bin/env python3
"""Makes all packages of a release from a build: dist.py --build build/dist --output dist.

Equal sources give equal bytes. SHA256SUMS lists every file.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from archive import make_archive  # noqa: E402
from bindings import make_crates, make_go_module, make_zig_archive  # noqa: E402
from debian import make_debian  # noqa: E402
from sbom import make_sbom  # noqa: E402
from third_party import third_party  # noqa: E402
from tree import ROOT, read_tree, sha256  # noqa: E402
from wheel import make_wheel  # noqa: E402


def version() -> str:
    text = (ROOT / "include/kernelmill/base.h").read_text()
    numbers = [re.search(rf"#define KM_VERSION_{part} (\d+)", text)[1]
               for part in ("MAJOR", "MINOR", "PATCH")]
    return ".".join(numbers)


def installed_tree(build: Path):
    """What `cmake --install` lays down, without symbols that only debuggers need."""
    with tempfile.TemporaryDirectory() as name:
        environment = {k: v for k, v in os.environ.items() if k != "DESTDIR"}
        subprocess.run(["cmake", "--install", build, "--prefix", name, "--strip"],
                       env=environment, check=True, stdout=subprocess.DEVNULL)
        return read_tree(Path(name))


def write_sums(output: Path) -> None:
    sums = output / "SHA256SUMS"
    files = sorted(path for path in output.rglob("*") if path.is_file() and path != sums)
    lines = [f"{sha256(path.read_bytes())}  {path.relative_to(output)}\n" for path in files]
    sums.write_text("".join(lines))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True, help="built with the preset dist")
    parser.add_argument("--output", type=Path, required=True, help="replaced as a whole")
    parser.add_argument("--no-crates", action="store_true", help="cargo takes a minute")
    options = parser.parse_args()
    if options.output.exists() and any(options.output.iterdir()) \
            and not (options.output / "SHA256SUMS").exists():
        sys.exit(f"dist.py: {options.output} holds other files; name a new folder")
    shutil.rmtree(options.output, ignore_errors=True)
    options.output.mkdir(parents=True)
    (options.output / "SHA256SUMS").write_text("")  # marks the folder, also of a run that is ended
    tree, number = installed_tree(options.build), version()
    tree.add("share/doc/kernelmill/THIRD_PARTY", third_party())
    make_sbom(tree, number, options.output)
    tree.add("share/doc/kernelmill/kernelmill.spdx.json",
             (options.output / f"kernelmill-{number}.spdx.json").read_bytes())
    archive = make_archive(tree, number, options.output)
    make_debian(tree, number, options.output)
    make_wheel(tree, number, options.output)
    make_go_module(number, options.output)
    make_zig_archive(number, options.output)
    if not options.no_crates:
        make_crates(archive, options.output)
    write_sums(options.output)
    for path in sorted(options.output.iterdir()):
        if path.is_file():
            print(f"{path.stat().st_size:>10}  {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
