"""What the clients share: running programs, results of tests, and what is known about them."""

import fnmatch
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

MISSING = "is missing: run scripts/setup.sh where there is a network"
EXPECTED = Path(__file__).parent / "expected.txt"
CUDA_12_HEADERS = "nvidia-cuda-runtime-cu12==12.9.79"


@dataclass
class Setting:
    """Where things are."""

    driver: Path  # the folder of libcuda.so.1
    nvrtc: Path  # the folder of NVRTC
    work: Path  # for sources, and what is built of them
    crates: Path  # where rust.py has unpacked them


class Client:
    """Has `name` and `version`, and gives the results of its tests: "ok", "FAILED" or
    "skipped: why"."""

    def missing(self, setting):
        """What it cannot run for want of; None where it is there, or is fetched when it is run."""
        return None

    def results(self, setting, known):
        raise NotImplementedError


@dataclass
class Known:
    """The lines of expected.txt about one client."""

    fails: list = field(default_factory=list)  # (pattern, reason)
    may: list = field(default_factory=list)
    skip: list = field(default_factory=list)
    skips: list = field(default_factory=list)

    @staticmethod
    def reason(rows, name):
        return next((reason for pattern, reason in rows if fnmatch.fnmatch(name, pattern)), None)


def read_expected(client):
    known = Known()
    for line in EXPECTED.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        name, kind, pattern, reason = line.split(" : ", 3)
        if name == client:
            getattr(known, kind).append((pattern, reason))
    return known


def run(words, folder, environment=None, check=True, seconds=1200):
    """The exit code, and the output with errors; after `seconds` all that it started is stopped."""
    process = subprocess.Popen(
        [str(word) for word in words],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    late = False
    try:
        text, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        late = True
        os.killpg(process.pid, signal.SIGKILL)
        text, _ = process.communicate()
    if check and (late or process.returncode != 0):
        why = f"no end after {seconds} s" if late else f"exit code {process.returncode}"
        sys.exit(f"clients: {' '.join(map(str, words))}: {why}:\n{text[-3000:]}")
    return process.returncode, text


def headers_of_12(work):
    """cuda.h of CUDA 12.9, for programs that are older than CUDA 13."""
    target = work / "cuda-12.9"
    if not target.exists():
        run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", target,
             CUDA_12_HEADERS], work)  # fmt: skip
    return next(target.glob("nvidia/*/include"))


def toolkit_of(setting, include):
    """A toolkit's tree, as build scripts look for it, around a driver."""
    toolkit = setting.work / "toolkit" / f"{setting.driver.name}-{include.parent.name}"
    (toolkit / "lib64").mkdir(parents=True, exist_ok=True)
    (toolkit / "include").mkdir(exist_ok=True)
    link = toolkit / "lib64/libcuda.so"
    link.unlink(missing_ok=True)
    link.symlink_to(setting.driver / "libcuda.so.1")
    shutil.copy(include / "cuda.h", toolkit / "include/cuda.h")
    return toolkit


def environment_of(setting, **more):
    return {
        **os.environ,
        "LD_LIBRARY_PATH": f"{setting.driver}:{setting.nvrtc}",
        "KM_CPU_DEVICES": "2",
        **more,
    }
