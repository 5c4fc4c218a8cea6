"""Contestants: processes that prepare one benchmark and then give samples on request."""
import json
import os
import subprocess
from pathlib import Path


class Failed(Exception):
    """A contestant could not run, or got a wrong result."""


class Contestant:
    """One process. Prepared and checked when the constructor returns."""

    def __init__(self, name, command, environment, cpus):
        self.name = name
        self.process = subprocess.Popen(
            command, env={**os.environ, **environment}, text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            preexec_fn=lambda: os.sched_setaffinity(0, cpus))
        self.samples = []
        self.facts = self._answer("ready")

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

    def values(self):
        return [sample["value"] for sample in self.samples]


def cpus_for(threads):
    """The first `threads` processors that this process may use."""
    allowed = sorted(os.sched_getaffinity(0))
    return set(allowed[:threads])


def environment_for(threads, scratch):
    """The same number of pinned threads for everybody."""
    cache = Path(scratch) / "pocl-cache"
    cache.mkdir(parents=True, exist_ok=True)
    return {
        "KM_CPU_THREADS": str(threads),
        "KM_CPU_PIN": "1",
        "OMP_NUM_THREADS": str(threads),
        "OMP_PROC_BIND": "close",
        "OMP_PLACES": "cores",
        "POCL_MAX_PTHREAD_COUNT": str(threads),
        "POCL_AFFINITY": "1",
        "POCL_CACHE_DIR": str(cache),
    }
