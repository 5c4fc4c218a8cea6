"""numba-cuda: its tests, module by module, without nvJitLink, so that the driver links."""

import re
import sys
from pathlib import Path

from common import Client, environment_of, run

REQUIREMENTS = Path(__file__).parent / "numba.txt"
MODULE_SECONDS = 1200

STARTED = re.compile(r"^\S+ \((numba\.cuda\.tests\.[\w.]+)\)", re.M)
RESULTS = "ok|FAIL|ERROR|skipped '.*'|skipped \".*\"|expected failure|unexpected success"
ENDED = re.compile(rf"(?:^|\.\.\. )({RESULTS})$", re.M)
# What pytest calls a skip is an error for unittest.
SKIPPED_BY_ERROR = re.compile(r"^ERROR: \S+ \(([\w.]+)\).*?^(?:\w+\.)*Skipped: (.*?)$", re.M | re.S)


def outcome(text):
    """Of one test, from what stands between its name and the next one's."""
    found = ENDED.findall(text)
    if "FAIL" in found or "ERROR" in found or not found:
        return "FAILED"
    if found[-1].startswith("skipped"):
        return f"skipped: {found[-1][9:-1]}"
    return "FAILED" if found[-1] == "unexpected success" else "ok"


def parse(text):
    """{test: "ok", "FAILED" or "skipped: why"} of the verbose output of one module."""
    body, _, errors = text.partition("\n" + "=" * 70)
    starts = list(STARTED.finditer(body))
    ends = [start.start() for start in starts[1:]] + [len(body)]
    found = {}
    for start, end in zip(starts, ends):
        found[start[1]] = outcome(body[start.end() : end])
    for block in errors.split("=" * 70):
        for test, reason in SKIPPED_BY_ERROR.findall(block):
            found[test] = f"skipped: {reason}"
    return found


class NumbaCuda(Client):
    name, version = "numba-cuda", "0.30.4"

    def results(self, setting, known):
        python = self.installed(setting.work)
        _, place = run([python, "-c", "import numba_cuda; print(numba_cuda.__path__[0])"], "/")
        root = Path(place.strip())
        variables = environment_of(setting)
        found = {}
        for path in sorted((root / "numba/cuda/tests").rglob("test_*.py")):
            module = ".".join(path.relative_to(root).with_suffix("").parts)
            reason = known.reason(known.skip, module)
            if reason:
                found[module] = f"skipped: {reason}"
            else:
                found.update(self.module_results(python, module, setting.work, variables))
        return found

    @staticmethod
    def module_results(python, module, folder, variables):
        words = [python, "-m", "numba.runtests", "-v", module]
        code, text = run(words, folder, variables, check=False, seconds=MODULE_SECONDS)
        found = parse(text)
        print(f"{module}: {len(found)} tests, exit code {code}", file=sys.stderr, flush=True)
        return found or {module: "FAILED"}

    @staticmethod
    def installed(work):
        folder = work / "numba"
        python = folder / "bin/python"
        if not folder.exists():
            run([sys.executable, "-m", "venv", folder], work)
            run([python, "-m", "pip", "install", "-q", "-r", REQUIREMENTS], work)
            run([python, "-m", "pip", "uninstall", "-q", "-y", "nvidia-nvjitlink"], work)
        return python


CLIENTS = [NumbaCuda()]
