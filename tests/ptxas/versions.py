#!/usr/bin/env python3
"""From which .version and .target on each form is taken, by ptxas and here.

    versions.py --verdicts PROGRAM --write FILE     asks ptxas (KM_PTXAS) and writes the table
    versions.py --verdicts PROGRAM --check FILE     compares the front end with the table: no ptxas

A line of the table is the first version, each with its newest target, that ptxas takes an
instruction of `--samples` under; the first target, with the newest version; and the instruction.
`-` stands for none. EXCEPTIONS has what both sides see differently, with the reason.
"""

import argparse
import os
import pathlib
import sys

import context
import engine
import ptxas

# Each version with the newest target that it has.
VERSIONS = (("2.3", "sm_20"), ("3.0", "sm_30"), ("3.1", "sm_35"), ("3.2", "sm_35"),
            ("4.0", "sm_50"), ("4.1", "sm_52"), ("4.2", "sm_53"), ("4.3", "sm_53"),
            ("5.0", "sm_62"), ("5.1", "sm_70"), ("6.0", "sm_70"), ("6.1", "sm_72"),
            ("6.2", "sm_72"), ("6.3", "sm_75"), ("6.4", "sm_75"), ("6.5", "sm_75"),
            ("7.0", "sm_80"), ("7.1", "sm_86"), ("7.2", "sm_86"), ("7.3", "sm_86"),
            ("7.4", "sm_87"), ("7.5", "sm_87"), ("7.6", "sm_87"), ("7.7", "sm_87"),
            ("7.8", "sm_90"), ("8.0", "sm_90a"), ("8.1", "sm_90a"), ("8.2", "sm_90a"),
            ("8.3", "sm_90a"), ("8.4", "sm_90a"), ("8.5", "sm_90a"), ("8.6", "sm_90a"),
            ("8.7", "sm_90a"), ("8.8", "sm_90a"), ("9.0", "sm_90a"), ("9.1", "sm_90a"),
            ("9.2", "sm_90a"), ("9.3", "sm_90a"), ("9.4", "sm_90a"), ("9.5", "sm_90a"))
TARGETS = tuple(("9.5", "sm_" + target) for target in (
    "30 32 35 37 50 52 53 60 61 62 70 72 75 80 82 86 87 88 89 90 90a").split())
# Axis by its column of the table.
AXES = (VERSIONS, TARGETS)
NEVER = "-"


def _name(axis, index):
    if index is None:
        return NEVER
    return AXES[axis][index][axis]


class Judge:
    """Asks ptxas under which settings lines are taken: each once."""

    def __init__(self, path):
        self.path = path
        self.known = {}

    def ask(self, axis, index, lines):
        """Whether each line is taken."""
        version, target = AXES[axis][index]
        new = [line for line in lines if (version, target, line) not in self.known]
        if new:
            judge = ptxas.Ptxas(self.path, ptxas.architecture(target))
            verdicts = judge.check(new, context.Setting(version, target).wrap)
            for line, refusal in zip(new, verdicts):
                self.known[version, target, line] = refusal is None
            print(f"{version} {target}: {len(new)} lines", file=sys.stderr)
        return [self.known[version, target, line] for line in lines]

    def thresholds(self, axis, lines):
        """The first setting that takes each line; None: the last does not."""
        last = len(AXES[axis]) - 1
        taken = self.ask(axis, last, lines)
        low = {line: 0 for line, good in zip(lines, taken) if good}
        high = {line: last for line in low}
        while True:
            groups = {}
            for line in low:
                if low[line] < high[line]:
                    groups.setdefault((low[line] + high[line]) // 2, []).append(line)
            if not groups:
                return [high.get(line) for line in lines]
            for middle, group in groups.items():
                for line, good in zip(group, self.ask(axis, middle, group)):
                    if good:
                        high[line] = middle
                    else:
                        low[line] = middle + 1


def write(path, lines, table):
    """Writes the table, sorted by the order of the samples."""
    firsts = [table.thresholds(axis, lines) for axis in range(len(AXES))]
    with open(path, "w", encoding="utf-8") as out:
        for line, version, target in zip(lines, *firsts):
            out.write(f"{_name(0, version)}\t{_name(1, target)}\t{line}\n")


def _verdicts(judge, axis, index, lines):
    setting = context.Setting(*AXES[axis][index])
    return [not answer.startswith("invalid") for answer in judge.check(lines, setting.wrap)]


def check(path, judge):
    """The lines of the table that are taken from another setting on, as text."""
    rows = [line.rstrip("\n").split("\t") for line in
            pathlib.Path(path).read_text(encoding="utf-8").splitlines()]
    lines = [row[2] for row in rows]
    faults = []
    for axis, settings in enumerate(AXES):
        names = [setting[axis] for setting in settings]
        first = [names.index(row[axis]) if row[axis] != NEVER else None for row in rows]
        for index in range(len(settings)):
            here = [i for i in range(len(rows))
                    if first[i] in (index, index + 1) or (first[i] is None and
                                                          index + 1 == len(settings))]
            taken = _verdicts(judge, axis, index, [lines[i] for i in here])
            for i, good in zip(here, taken):
                wanted = first[i] == index
                if good != wanted and reason(lines[i]) is None:
                    version, target = settings[index]
                    who = "refused here, taken" if wanted else "taken here, refused"
                    faults.append(f"{version} {target}: {who} by ptxas: {lines[i]}")
    return faults


# By what a line begins with, or has in it.
EXCEPTIONS = (
    ("brx.idx", "the context declares its targets behind the branch"),
    ("ld.param::func", "the context has parameters of a kernel only"),
    (".u32 %b32_", "conversions of 32-bit addresses are refused of a module as a whole"),
    ("tex.", "coordinates are counted when a kernel runs"),
    ("tld4.", "coordinates are counted when a kernel runs"),
    ("suld.", "coordinates are counted when a kernel runs"),
    ("sust.", "coordinates are counted when a kernel runs"),
    ("sured.", "coordinates are counted when a kernel runs"),
    ("cp.async.bulk.global.shared::cta.bulk_group.cp_mask", "taken here before sm_100"),
    ("multimem.cp.", "not in the engine: types are looked at less"),
)


def reason(line):
    """Why both sides differ about a line; None: they may not."""
    for text, why in EXCEPTIONS:
        if line.startswith(text) or (text[0] == "." and text in line and line.startswith("cvta")):
            return why
    return None


def main():
    """The command."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--verdicts", required=True)
    parser.add_argument("--write")
    parser.add_argument("--check")
    arguments = parser.parse_args()
    judge = engine.Engine(arguments.verdicts)
    if arguments.write:
        path = ptxas.find()
        if path is None:
            print("no ptxas: name one by KM_PTXAS (the wheel nvidia-cuda-nvcc has it)")
            return 77
        write(arguments.write, judge.samples(), Judge(path))
    faults = check(arguments.check or arguments.write, judge)
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
