"""JAX from its wheels for CUDA 13, as they are installed, under `kernelmill exec`."""

import re
import shutil
import sys
from pathlib import Path

from common import Client, run

REQUIREMENTS = Path(__file__).parent / "jax.txt"
OPERATIONS = Path(__file__).parent / "jax_operations.py"
LINE = re.compile(r"^(\w+) (ok|FAILED.*) \([\d.]+ s\)$", re.M)
OLDEST = (3, 12)


def starts(python):
    """pyenv has a command on PATH for each version, which ends with 127 unless it is chosen."""
    return run([python, "-c", "import venv"], Path.cwd(), check=False, seconds=60)[0] == 0


def find_python():
    """A Python that JAX's wheels are made for; None if there is none."""
    if sys.version_info >= OLDEST:
        return sys.executable
    names = (f"python3.{minor}" for minor in (14, 13, 12))
    return next(filter(starts, filter(None, map(shutil.which, names))), None)


class Jax(Client):
    name, version = "jax", "0.12.0.1"

    def missing(self, setting):
        if find_python() is None:
            return "needs Python 3.12 or newer"
        if not (setting.driver / "bin/ptxas").exists():
            return "needs the stand-in for ptxas, which this build does not have"
        return None

    def results(self, setting, known):
        command = setting.driver.parents[2] / "bin/kernelmill"
        if not command.exists():  # a driver that does nothing
            return {}
        words = [command, "exec", "--", self.installed(setting.work), OPERATIONS]
        _, text = run(words, setting.work, check=False)
        found = {name: "ok" if result == "ok" else "FAILED" for name, result in LINE.findall(text)}
        if "FAILED" in found.values() or not found:
            print(text[-3000:], file=sys.stderr)
        return found or {"start": "FAILED"}

    @staticmethod
    def installed(work):
        folder = work / "jax"
        python = folder / "bin/python"
        if not (folder / "done").exists():
            run([find_python(), "-m", "venv", "--clear", folder], work)
            run([python, "-m", "pip", "install", "-q", "-r", REQUIREMENTS], work)
            (folder / "done").touch()
        return python


CLIENTS = [Jax()]
