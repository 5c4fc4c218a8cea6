#!/usr/bin/env python3
"""Makes all packages of a release from builds: dist.py --build build/dist --output dist.

There is a build for each architecture (--build again); what is of none needs that of this machine.
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
from machine import machine_of  # noqa: E402
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


def native_packages(build: Path, output: Path) -> tuple:
    """The machine that a build is for and its archive, which is made with all other packages."""
    tree, number = installed_tree(build), version()
    machine = machine_of(tree)
    tree.add("share/doc/kernelmill/THIRD_PARTY", third_party(machine))
    bill = make_sbom(tree, number, machine, output)
    tree.add("share/doc/kernelmill/kernelmill.spdx.json", bill.read_bytes())
    archive = make_archive(tree, number, machine, output)
    make_debian(tree, number, machine, output)
    make_wheel(tree, number, machine, output)
    return machine, archive


def write_sums(output: Path) -> None:
    sums = output / "SHA256SUMS"
    files = sorted(path for path in output.rglob("*") if path.is_file() and path != sums)
    lines = [f"{sha256(path.read_bytes())}  {path.relative_to(output)}\n" for path in files]
    sums.write_text("".join(lines))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True, action="append",
                        help="built with the preset dist or dist-arm64")
    parser.add_argument("--output", type=Path, required=True, help="replaced as a whole")
    parser.add_argument("--no-crates", action="store_true", help="cargo takes a minute")
    options = parser.parse_args()
    if options.output.exists() and any(options.output.iterdir()) \
            and not (options.output / "SHA256SUMS").exists():
        sys.exit(f"dist.py: {options.output} holds other files; name a new folder")
    shutil.rmtree(options.output, ignore_errors=True)
    options.output.mkdir(parents=True)
    (options.output / "SHA256SUMS").write_text("")  # marks the folder, also of a run that is ended
    archives = dict(native_packages(build, options.output) for build in options.build)
    make_go_module(version(), options.output)
    make_zig_archive(version(), options.output)
    if not options.no_crates and any(machine.is_here for machine in archives):
        make_crates(archives, options.output)
    write_sums(options.output)
    for path in sorted(options.output.iterdir()):
        if path.is_file():
            print(f"{path.stat().st_size:>10}  {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
