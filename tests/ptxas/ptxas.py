"""NVIDIA's assembler as a judge: which of many lines or modules of PTX it takes."""

import os
import re
import shutil
import subprocess
import tempfile

_AT_LINE = re.compile(r"line (\d+); (?:error|fatal)\s*: (.*)")
_NARROW_ADDRESS = re.compile(r"32-bit address on line '(\d+)'")
# An error in the last line of a module: what is before it is read and checked, and no code made.
_LIMIT_S = 30
_STOP = ".visible .entry km_stop(){ mov.u32 %km_undefined, 1; }\n"


def find():
    """The path of ptxas: KM_PTXAS, or on PATH; None if there is none."""
    return os.environ.get("KM_PTXAS") or shutil.which("ptxas")


def architecture(target):
    """The architecture to compile a target for: its own from sm_90a on, else the newest old one."""
    digits = int(re.sub(r"\D", "", target))
    return target if digits >= 100 or target.endswith("a") else "sm_90"


class Ptxas:
    """One ptxas, which compiles for one architecture."""

    def __init__(self, path, architecture, options=()):
        self.path = path
        self.architecture = architecture
        self.options = list(options)
        self.starts = 0

    def release(self):
        """Its release, as "12.9"."""
        text = subprocess.run([self.path, "--version"], capture_output=True, text=True,
                              check=True).stdout
        return re.search(r"release (\d+\.\d+)", text).group(1)

    def run(self, text):
        """Exit status and messages for one module."""
        self.starts += 1
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
            file.write(text)
            file.flush()
            command = [self.path, "-arch=" + self.architecture, "-O0", *self.options, "-o",
                       "/dev/null", file.name]
            try:
                done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                                      timeout=_LIMIT_S, check=False)
            except subprocess.TimeoutExpired:
                return 1, "fatal : ptxas did not end"
            if done.returncode < 0:
                return 1, "fatal : ptxas crashed"
        return done.returncode, (done.stdout + done.stderr).replace(file.name, "module")

    def check_module(self, text):
        """None if the module is taken, else the first error."""
        status, output = self.run(text)
        return None if status == 0 else _first_error(output)

    def check(self, pieces, wrap):
        """Of each piece: None if it is taken, else the first error.

        `wrap(pieces)` makes one module of pieces, each on a line of its own, and gives the text and
        the number of the line of each.
        """
        verdicts = [None] * len(pieces)
        live = self._sift(pieces, list(range(len(pieces))), wrap, verdicts, _STOP)
        for start in range(0, len(live), 500):  # those without an error in the text: code is made
            self._sift(pieces, live[start:start + 500], wrap, verdicts, "")
        return verdicts

    def _sift(self, pieces, live, wrap, verdicts, stop):
        while live:
            text, lines = wrap([pieces[i] for i in live])
            status, output = self.run(text + stop)
            if status == 0:
                break
            found = _errors_by_line(output)
            at_line = {line: i for i, line in zip(live, lines)}
            hit = {at_line[line]: message for line, message in found.items() if line in at_line}
            if not hit:
                if stop and "km_undefined" in output:
                    break
                self._halve(pieces, live, wrap, verdicts, stop, output)
                break
            for i, message in hit.items():
                verdicts[i] = message
            live = [i for i in live if verdicts[i] is None]
        return [i for i in live if verdicts[i] is None]

    def _halve(self, pieces, live, wrap, verdicts, stop, output):
        if len(live) == 1:
            verdicts[live[0]] = _first_error(output)
            return
        middle = len(live) // 2
        for half in (live[:middle], live[middle:]):
            self._sift(pieces, half, wrap, verdicts, stop)


def _errors_by_line(output):
    found = {}
    for match in _AT_LINE.finditer(output):
        if "'__cuda_" not in match.group(2):  # the line is one of ptxas' own library
            found.setdefault(int(match.group(1)), match.group(2))
    if "32-Bit" in output:
        for match in _NARROW_ADDRESS.finditer(output):
            found.setdefault(int(match.group(1)), "32-bit address")
    return found


def _first_error(output):
    lines = [line for line in output.splitlines() if "error" in line or "fatal" in line]
    return (lines or output.splitlines() or ["no message"])[0]
