#!/usr/bin/env python3
"""Tries the engine on the kernels of public checkouts; nothing is downloaded and no kernel is run.

corpus.py compile OUT CHECKOUT [--nvcc NVCC] [--only PATTERN] [--most N] [--include DIR]...
    makes PTX of the .cu files of a checkout, and copies its .ptx files, to OUT/<checkout's name>
corpus.py try OUT [--command KERNELMILL]
    runs `kernelmill corpus` over all of OUT for AVX2 and AVX-512; writes OUT/<name>.<isa>.json
corpus.py report OUT
    prints the tables of docs/reports/corpus.md
"""

import argparse
import concurrent.futures
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ISAS = ("avx2", "avx512")
COMPILE_SECONDS = 180
TRY_SECONDS = 3600
STATE = "sources.json"
USUAL_FOLDERS = ("include", "inc", "src", "Common", "common")
FLAGS = ["-ptx", "-w", "-std=c++17", "--expt-relaxed-constexpr", "--extended-lambda"]


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=("compile", "try", "report"))
    parser.add_argument("out", type=Path)
    parser.add_argument("checkout", type=Path, nargs="?")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--arch", default="compute_90")
    parser.add_argument("--only", default="*", help="pattern of paths inside the checkout")
    parser.add_argument("--most", type=int, default=0, help="so many files, spread evenly")
    parser.add_argument("--include", action="append", default=[], help="inside the checkout")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--command", default="kernelmill")
    return parser.parse_args()


# --- compile -----------------------------------------------------------------------------------


def include_folders(source: Path, root: Path, extra: list) -> list:
    """What its own build would search, as far as can be guessed: nearest folders first."""
    folders = []
    folder = source.parent
    while True:
        for makefile in ("Makefile", "CMakeLists.txt"):
            text = ""
            if (folder / makefile).is_file():
                text = (folder / makefile).read_text(errors="replace")
            folders += [folder / word for word in re.findall(r"-I\s*([\w./-]+)", text)]
        folders += [folder, *(folder / name for name in USUAL_FOLDERS)]
        if folder == root:
            break
        folder = folder.parent
    folders = [root / name for name in extra] + folders
    return list(dict.fromkeys(str(f) for f in folders if f.is_dir()))


def compile_one(source: Path, target: Path, settings) -> str:
    """An empty text, or why there is no PTX."""
    if target.is_file() and target.stat().st_mtime > source.stat().st_mtime:
        return ""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.suffix == ".ptx":
        shutil.copyfile(source, target)
        return ""
    command = [settings.nvcc, *FLAGS, f"-arch={settings.arch}", str(source), "-o", str(target)]
    for folder in include_folders(source, settings.checkout, settings.include):
        command += ["-I", folder]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_SECONDS,
                              errors="replace", check=False)
    except subprocess.TimeoutExpired:
        return f"takes more than {COMPILE_SECONDS} s"
    if done.returncode == 0:
        return ""
    lines = [line for line in done.stderr.splitlines() if "error" in line]
    return (lines or ["no message"])[0]


def reason_of(message: str) -> str:
    """So that equal reasons look equal."""
    missing = re.search(r"fatal error: (\S+?): No such file", message)
    if missing:
        return "a header is missing"
    return re.sub(r'"[^"]*"|\S*\(\d+\):|\d+', "", message).strip()


def chosen(settings) -> list:
    root = settings.checkout
    files = sorted(
        path
        for path in root.rglob("*")
        if path.suffix in (".cu", ".ptx") and path.is_file()
        and fnmatch.fnmatch(str(path.relative_to(root)), settings.only)
    )
    if settings.most and len(files) > settings.most:
        return [files[i * len(files) // settings.most] for i in range(settings.most)]
    return files


def commit_of(checkout: Path) -> str:
    done = subprocess.run(["git", "-C", str(checkout), "rev-parse", "--short=12", "HEAD"],
                          capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def compile_all(settings) -> None:
    settings.checkout = settings.checkout.resolve()
    out = settings.out / settings.checkout.name
    files = chosen(settings)
    reasons = {}
    with concurrent.futures.ThreadPoolExecutor(settings.jobs) as pool:
        jobs = {}
        for source in files:
            name = str(source.relative_to(settings.checkout))
            target = out / (name if source.suffix == ".ptx" else name + ".ptx")
            jobs[pool.submit(compile_one, source, target, settings)] = name
        for done in concurrent.futures.as_completed(jobs):
            reasons[jobs[done]] = done.result()
            if sys.stderr.isatty():
                print(f"\r{len(reasons)} of {len(files)} files\x1b[K", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr)
    state = {
        "commit": commit_of(settings.checkout),
        "only": settings.only,
        "most": settings.most,
        "files": dict(sorted(reasons.items())),
    }
    out.mkdir(parents=True, exist_ok=True)
    (out / STATE).write_text(json.dumps(state, indent=1) + "\n")


# --- try ---------------------------------------------------------------------------------------


def collections(out: Path) -> list:
    return sorted(path.parent for path in out.glob(f"*/{STATE}"))


def try_all(settings) -> None:
    """Without the cache of machine code, which would hide the times."""
    for folder in collections(settings.out):
        for isa in ISAS:
            target = settings.out / f"{folder.name}.{isa}.json"
            newest = max(path.stat().st_mtime for path in folder.rglob("*.ptx"))
            if target.exists() and target.stat().st_mtime > newest:
                continue
            environment = {**os.environ, "KM_CPU_ISA": isa, "KM_CACHE_DIR": "off"}
            command = [settings.command, "corpus", str(folder), "--json",
                       f"--seconds={TRY_SECONDS}", f"--jobs={settings.jobs}"]
            done = subprocess.run(command, stdout=subprocess.PIPE, env=environment, check=True)
            target.write_bytes(done.stdout)


# --- report ------------------------------------------------------------------------------------


def count_kernels(path: str) -> int:
    """How many kernels a file has that does not load: each counts as refused."""
    text = Path(path).read_text(errors="replace")
    return len(re.findall(r"^[ \t]*(?:\.(?:visible|weak)[ \t]+)?\.entry\b", text, flags=re.M))


def reason_for_table(message: str) -> str:
    """Without places, names of kernels, types and modifiers."""
    text = message.split("\n")[0]
    text = re.sub(r"^\S*:\d+(:\d+)?: ", "", text)
    text = re.sub(r"^\S*\.ptx: ", "", text)
    text = re.sub(r"^'(\w+)[^']*' in '[^']*' is", r"`\1` is", text)
    text = re.sub(r".*'[^']*' has no body here.*", "calls what another file defines", text)
    return text.replace("|", "\\|")


class Totals:
    def __init__(self):
        self.kernels = self.made = 0
        self.times = []
        self.reasons = {}
        self.slow = []

    def refuse(self, reason: str, kernels: int) -> None:
        self.reasons[reason] = self.reasons.get(reason, 0) + kernels

    def add(self, file: dict) -> None:
        if not file["loaded"]:
            self.add_refused(file)
            return
        for kernel in file["kernels"]:
            self.kernels += 1
            self.made += kernel["made"]
            if not kernel["made"]:
                self.refuse(reason_for_table(kernel["reason"]), 1)
                continue
            self.times.append(kernel["cpu_ms"])
            self.slow.append((kernel["cpu_ms"], kernel["name"], file["file"]))

    def add_refused(self, file: dict) -> None:
        """A module is refused when none of its kernels can run, for the reason of the first."""
        kernels = count_kernels(file["file"])
        self.kernels += kernels
        self.refuse(reason_for_table(file.get("reason", "unknown")), kernels)

    def merge(self, other) -> None:
        self.kernels += other.kernels
        self.made += other.made
        self.times += other.times
        self.slow += other.slow
        for reason, kernels in other.reasons.items():
            self.refuse(reason, kernels)

    def quantiles(self) -> str:
        times = sorted(self.times)
        if not times:
            return "| | | |"
        picks = [times[min(int(share * len(times)), len(times) - 1)] for share in (0.5, 0.9, 0.99)]
        return " | ".join(f"{ms:,.0f}" for ms in [*picks, times[-1]])


def totals_of(out: Path, name: str, isa: str) -> Totals:
    totals = Totals()
    if not (out / f"{name}.{isa}.json").exists():
        return totals
    for file in json.loads((out / f"{name}.{isa}.json").read_text())["files"]:
        totals.add(file)
    return totals


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%" if whole else ""


def report_collections(out: Path) -> dict:
    print("| collection | commit | files | PTX made | kernels | code made | |\n"
          "|---|---|---|---|---|---|---|")
    sums = {isa: Totals() for isa in ISAS}
    files = compiled = 0
    for folder in collections(out):
        state = json.loads((folder / STATE).read_text())
        good = sum(not reason for reason in state["files"].values())
        for isa in ISAS:
            sums[isa].merge(totals_of(out, folder.name, isa))
        totals = totals_of(out, folder.name, ISAS[0])
        files, compiled = files + len(state["files"]), compiled + good
        name = folder.name.replace("+", "/")
        note = " (a sample)" if state["most"] else ""
        print(f"| {name}{note} | {state['commit']} | {len(state['files'])} | {good} | "
              f"{totals.kernels} | {totals.made} | {share(totals.made, totals.kernels)} |")
    whole = sums[ISAS[0]]
    print(f"| all | | {files} | {compiled} | {whole.kernels} | {whole.made} | "
          f"{share(whole.made, whole.kernels)} |")
    return sums


def by_count(counts: dict) -> list:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def report(settings) -> None:
    sums = report_collections(settings.out)
    print("\n| kernels | why there is no code |\n|---|---|")
    for reason, kernels in by_count(sums[ISAS[0]].reasons):
        print(f"| {kernels} | {reason} |")
    print("\n| ms per kernel | kernels | p50 | p90 | p99 | most |\n|---|---|---|---|---|---|")
    for isa in ISAS:
        print(f"| {isa} | {len(sums[isa].times)} | {sums[isa].quantiles()} |")
    print("\n| files | why there is no PTX |\n|---|---|")
    counts = {}
    for folder in collections(settings.out):
        for reason in json.loads((folder / STATE).read_text())["files"].values():
            if reason:
                counts[reason_of(reason)] = counts.get(reason_of(reason), 0) + 1
    shown = by_count(counts)[:8]
    for reason, files in shown:
        print(f"| {files} | {reason} |")
    print(f"| {sum(counts.values()) - sum(files for _, files in shown)} | other errors |")
    for ms, name, file in sorted(sums[ISAS[0]].slow, reverse=True)[:12]:
        print(f"{ms:9.0f} ms  {file}  {name}", file=sys.stderr)


def main() -> int:
    settings = options()
    steps = {"compile": compile_all, "try": try_all, "report": report}
    steps[settings.step](settings)
    return 0


if __name__ == "__main__":
    sys.exit(main())
