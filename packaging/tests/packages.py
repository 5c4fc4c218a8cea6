"""What tests of packages share: where the packages lie, how programs are run."""

import contextlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DIST = Path(os.environ.get("KM_DIST_DIR") or ROOT / "dist")
BUILD = Path(os.environ.get("KM_DIST_BUILD") or ROOT / "build/dist")
NVRTC = ROOT / ".deps"
HERE = platform.machine()
ARCHIVE = f"kernelmill-*-linux-{HERE}.tar.xz"
WHEEL = f"kernelmill-*_{HERE}.whl"
BILL = f"kernelmill-*-linux-{HERE}.spdx.json"
KERNEL = """
extern "C" __global__ void fill(int* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x * 100 + threadIdx.x;
}
"""
RUN_KERNEL = ("run", "fill.cu", "--grid", "2", "--block", "4", "--arg", "print:i32[8]", "-q")
FILLED = "0 1 2 3 100 101 102 103"
LOADS_DRIVER = (
    "import ctypes\n"
    "names = ['libcuda.so', 'libcuda.so.1']\n"
    "print([ctypes.CDLL(name).cuInit(0) for name in names])\n"
    "maps = {line.split()[-1] for line in open('/proc/self/maps') if 'libcuda.so.1' in line}\n"
    "print(len(maps))\n"
)


def one(pattern: str) -> Path:
    found = sorted(DIST.glob(pattern))
    if len(found) != 1:
        raise AssertionError(f"{DIST} has {len(found)} files {pattern}; run make dist")
    return found[0]


def version() -> str:
    return one("kernelmill-zig-*.tar.gz").name[len("kernelmill-zig-"):-len(".tar.gz")]


def debian_packages() -> list:
    """Those for this machine."""
    shown = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True,
                           check=True)
    return sorted(DIST.glob(f"*_{shown.stdout.strip()}.deb"))


def quick_start() -> tuple:
    """README's program, and the lines that build it and run it."""
    readme = (ROOT / "README.md").read_text("utf-8")
    return tuple(re.search(rf"^```{language}\n(.*?)^```$", readme, re.M | re.S)[1]
                 for language in ("c", "sh"))


class Case(unittest.TestCase):
    """A test with an empty folder of its own, and no settings of Kernelmill from outside."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="km_dist_"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        (self.folder / "fill.cu").write_text(KERNEL)

    @contextlib.contextmanager
    def first_kernel(self, way: str):
        """Says how long the steps from nothing to a first kernel take."""
        start_s = time.monotonic()
        yield
        print(f"first kernel by {way}: {time.monotonic() - start_s:.1f} s", file=sys.stderr)

    def run_here(self, *words, **settings) -> str:
        """Standard output of a program that succeeds."""
        clean = {k: v for k, v in os.environ.items()
                 if not k.startswith(("KM_", "LD_LIBRARY", "PYTHON", "VIRTUAL_ENV"))}
        home = {"HOME": str(self.folder), "KM_CACHE_DIR": "off"}
        done = subprocess.run([str(word) for word in words], cwd=self.folder, text=True,
                              env={**clean, **home, **settings}, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, f"{words}\n{done.stdout}{done.stderr}")
        return done.stdout
