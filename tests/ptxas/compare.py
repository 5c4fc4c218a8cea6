#!/usr/bin/env python3
"""Compares what Kernelmill and ptxas take: lines of all PTX in the repository, changed at random.

    compare.py --verdicts PROGRAM [--lines N] [--random N] [--cuda FOLDER-WITH-PTX]
               [--table FILE] [--targets NAME,NAME]

Each line is put into a kernel of its own. What only one of the two takes is printed by reason, and
the exit status is 1 if some of it has none (reasons.py).
"""

import argparse
import collections
import concurrent.futures
import pathlib
import random
import sys

import collect
import context
import engine
import mutate
import ptxas
import reasons

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("tests/data/ptx", "tests/kernels/ptx", "tests/fuzz/found", "tests/fuzz/parser/corpus",
           "examples")
# What lines are put into: the newest known target, and older ones, whose limits differ.
SETTINGS = (("9.5", "sm_90a", 6), ("9.5", "sm_100a", 2), ("9.5", "sm_120f", 1),
            ("8.0", "sm_80", 2), ("7.0", "sm_70", 1), ("6.0", "sm_60", 1), ("4.0", "sm_30", 1))
BATCH = 400
SWEEP_BATCH = 3000


def collected(folders):
    """All instructions of the modules below some folders."""
    lines = {}
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*.ptx")):
            for line in collect.instructions(path.read_text(errors="replace")):
                lines[line] = True
    return list(lines)


class Comparison:
    """Counts and differences of many lines."""

    def __init__(self, verdicts, path):
        self.engine = engine.Engine(verdicts)
        self.path = path
        self.both = collections.Counter()
        self.differences = []

    def run(self, version, target, lines):
        """Asks both about lines in one setting."""
        setting = context.Setting(version, target)
        judge = ptxas.Ptxas(self.path, ptxas.architecture(target))
        theirs = judge.check(lines, setting.wrap)
        ours = self.engine.check(lines, setting.wrap)
        results = []
        for line, refusal, answer in zip(lines, theirs, ours):
            if refusal is None and answer.startswith("invalid"):
                # Whether addresses have 32 bits is said of a module as a whole.
                refusal = judge.check_module(setting.wrap([line])[0])
            results.append((version, target, line, refusal, answer))
        return results

    def add(self, results):
        """Sorts results into agreement and differences."""
        for version, target, line, refusal, answer in results:
            taken = refusal is None
            if taken == (answer == "ok"):
                self.both["taken" if taken else "refused"] += 1
            elif taken and answer.startswith("unsupported"):
                self.both["taken, not in the engine"] += 1
            else:
                self.differences.append((version, target, line, refusal, answer))


def of_table(path):
    """The instructions of a table of tests/data."""
    return [row.split("\t")[-1] for row in pathlib.Path(path).read_text().splitlines()]


def batches(lines, count, generator, settings):
    """Changed lines by setting, in portions."""
    mutator = mutate.Mutator(generator)
    total = sum(weight for _, _, weight in settings)
    for version, target, weight in settings:
        wanted = count * weight // total
        changed = {}
        for line in lines:
            changed[line] = True
        while len(changed) < max(wanted, len(lines)):
            changed[mutator.change(generator.choice(lines))] = True
        changed = list(changed)
        for start in range(0, len(changed), BATCH):
            yield version, target, changed[start:start + BATCH]


def report(comparison, shown):
    """Prints counts, and differences by reason; the number of those without one."""
    by_reason = collections.defaultdict(list)
    for difference in comparison.differences:
        by_reason[reasons.reason(*difference)].append(difference)
    total = sum(comparison.both.values()) + len(comparison.differences)
    print(f"{total} lines: " +
          ", ".join(f"{number} {what}" for what, number in comparison.both.items()))
    for reason, found in sorted(by_reason.items(), key=lambda item: -len(item[1])):
        print(f"{len(found)} {reason or 'WITHOUT A REASON'}")
        for version, target, line, refusal, answer in found[:shown if not reason else 3]:
            said = f"ptxas: {refusal}" if refusal else f"here: {answer}"
            print(f"    {version} {target}  {line}   {said[:150]}")
    return len(by_reason.get(None, []))


def main():
    """The command."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--verdicts", required=True)
    parser.add_argument("--lines", type=int, default=100000)
    parser.add_argument("--random", type=int, default=1)
    parser.add_argument("--cuda", help="a folder with the PTX that NVRTC makes of tests/kernels")
    parser.add_argument("--table", help="a table of tests/data, instead of the repository's PTX")
    parser.add_argument("--targets", help="those of SETTINGS to compare, with commas between")
    parser.add_argument("--only", help="a file of lines to compare as they are")
    parser.add_argument("--shown", type=int, default=200)
    arguments = parser.parse_args()
    path = ptxas.find()
    if path is None:
        print("no ptxas: name one by KM_PTXAS (the wheel nvidia-cuda-nvcc has it)")
        return 77
    generator = random.Random(arguments.random)
    folders = [ROOT / folder for folder in FOLDERS]
    if arguments.cuda:
        folders.append(pathlib.Path(arguments.cuda))
    comparison = Comparison(arguments.verdicts, path)
    if arguments.only:
        lines = pathlib.Path(arguments.only).read_text().splitlines()
        version, target, _ = SETTINGS[0]
        work = [(version, target, lines[start:start + SWEEP_BATCH])
                for start in range(0, len(lines), SWEEP_BATCH)]
    else:
        lines = of_table(arguments.table) if arguments.table else collected(folders)
        wanted = arguments.targets.split(",") if arguments.targets else None
        settings = [each for each in SETTINGS if not wanted or each[1] in wanted]
        work = batches(lines, arguments.lines, generator, settings)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for results in pool.map(lambda item: comparison.run(*item), work):
            comparison.add(results)
    return 1 if report(comparison, arguments.shown) else 0


if __name__ == "__main__":
    sys.exit(main())
