"""Contestants: processes that prepare one benchmark and then give samples on request."""
import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from driver import machine


class Failed(Exception):
    """A contestant could not run, or got a wrong result."""


@dataclass
class Team:
    """A column of the table: one program, perhaps in several settings, of which the best counts."""
    name: str
    title: str
    program: str
    settings: tuple = ({},)


def teams(deps, build):
    """All of them, in the order of the table. OpenCL's loader is shown one platform at a time."""
    pocl = {"OCL_ICD_VENDORS": "/etc/OpenCL/vendors/pocl.icd"}
    methods = () if machine.forced_vectors() else ("auto", "loopvec")  # it takes what there is
    return (
        Team("kernelmill", "Kernelmill", "kernelmill"),
        Team("dropin", "over libcuda", "kernelmill", dropin_settings(build)),
        Team("pocl", "PoCL", "opencl",
             tuple({**pocl, "POCL_WORK_GROUP_METHOD": method} for method in methods)),
        Team("intel", "Intel OpenCL", "opencl", intel_settings(deps / "bench" / "intel")),
        Team("openmp", "OpenMP", "openmp"),
        Team("spmd", "SPMD model", "spmd"),
        Team("openmp_fast", "OpenMP fast-math", "openmp_fast"),
        Team("openblas", "OpenBLAS", "openblas"),
        Team("libc", "C library", "libc"),
    )


def dropin_settings(build):
    """The same program on the cuda backend, which finds our CUDA driver library."""
    libraries = sorted(build.glob("lib/kernelmill-*/cuda/libcuda.so.1"))
    return tuple({"KM_TEST_BENCH_DEVICE": "cuda", "KM_CUDA_DRIVER": str(path)}
                 for path in libraries[:1])


def intel_settings(folder):
    """Empty, so that it never runs, where set-up has not brought Intel's runtime."""
    vendors = folder / "vendors"
    if not vendors.is_dir():
        return ()
    return ({"OCL_ICD_VENDORS": str(vendors), "LD_LIBRARY_PATH": str(folder / "lib")},)


@dataclass
class Contestant:
    """One process. Prepared and checked when start() returns."""
    name: str
    process: subprocess.Popen
    facts: dict = field(default_factory=dict)
    samples: list = field(default_factory=list)

    @classmethod
    def start(cls, name, command, environment, cpus):
        process = subprocess.Popen(
            command, env={**os.environ, **environment}, text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            preexec_fn=lambda: os.sched_setaffinity(0, cpus))
        contestant = cls(name, process)
        contestant.facts = contestant._answer("ready")
        return contestant

    def _answer(self, state):
        for line in self.process.stdout:
            if not line.startswith("{"):
                continue  # a library that prints
            answer = json.loads(line)
            if answer["state"] == "failed":
                raise Failed(answer["message"])
            if answer["state"] == state:
                return answer
        raise Failed(f"ended with status {self.process.wait()}")

    def sample(self):
        self.process.stdin.write("sample\n")
        self.process.stdin.flush()
        self.samples.append(self._answer("sample"))

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def values(self, key="value"):
        return [sample[key] for sample in self.samples if key in sample]


def cpus_for(threads):
    """The first `threads` processors that this process may use."""
    allowed = sorted(os.sched_getaffinity(0))
    return set(allowed[:threads])


def environment_for(threads, scratch):
    """The same number of pinned threads for everybody, and huge pages for what malloc gives."""
    cache = Path(scratch) / "pocl-cache"
    cache.mkdir(parents=True, exist_ok=True)
    vectors = {}
    if machine.forced_vectors():
        vectors = {"KM_CPU_ISA": "avx2", "CL_CONFIG_CPU_TARGET_ARCH": "core-avx2",
                   "OPENBLAS_CORETYPE": "Haswell"}
    return {
        **vectors,
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
        "KM_CPU_THREADS": str(threads),
        "KM_CPU_PIN": "1",
        "OMP_NUM_THREADS": str(threads),
        "OMP_PROC_BIND": "close",
        "OMP_PLACES": "cores",
        "OPENBLAS_NUM_THREADS": str(threads),
        "POCL_MAX_PTHREAD_COUNT": str(threads),
        "POCL_AFFINITY": "1",
        "POCL_CACHE_DIR": str(cache),
        "CL_CONFIG_CPU_TBB_NUM_WORKERS": str(threads),
    }
