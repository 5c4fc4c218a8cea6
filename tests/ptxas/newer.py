#!/usr/bin/env python3
"""Which targets beyond sm_90 have each form, by ptxas and here.

    newer.py --verdicts PROGRAM --write FILE     asks ptxas (KM_PTXAS) and writes the table
    newer.py --verdicts PROGRAM --check FILE     compares the front end with the table: no ptxas

These targets make no chain: `a` and `f` forms have instructions that later devices lack. A line of
the table has the first version, with the first of its targets, the targets that take an instruction
of `--samples` under the newest version, and the instruction. Instructions that all of them take are
left out, unless sm_90a refuses them.
"""

import argparse
import pathlib
import sys

import context
import engine
import ptxas

VERSION = "9.5"
VERSIONS = ("8.6", "8.7", "8.8", "9.0", "9.1", "9.2", "9.3", "9.4", "9.5")
OLDER = "sm_90a"
TARGETS = tuple("sm_" + target for target in
                "100 100a 100f 103a 103f 110a 110f 120 120a 120f 121a".split())

# Keyed by the beginning of a line, or by a part of it.
EXCEPTIONS = (
    ("multimem.", "not in the engine: e4m3 and e5m2 are taken of sm_120f too"),
    ("tex.", "coordinates are counted when a kernel runs"),
    ("tld4.", "coordinates are counted when a kernel runs"),
    ("suld.", "coordinates are counted when a kernel runs"),
    ("sust.", "coordinates are counted when a kernel runs"),
    ("sured.", "coordinates are counted when a kernel runs"),
    ("brx.idx", "the context declares its targets behind the branch"),
    ("ld.param::func", "the context has parameters of a kernel only"),
    ("cp.async.bulk.global.shared::cta.bulk_group.cp_mask", "taken here before sm_100"),
    ("cp.async.bulk.shared::cluster.global.mbarrier", "32-bit addresses: ptxas errs for sm_120"),
    (".tile::gather4", "taken here of every target"),
    (".tile::scatter4", "taken here of every target"),
    (".cta_group::", "taken here of every target"),
    ("im2col::w", "taken here of every target"),
    (".u32 %b32_", "conversions of 32-bit addresses are refused of a module as a whole"),
)


def reason(line):
    """Why both sides differ about a line; None: they may not."""
    for text, why in EXCEPTIONS:
        within = text[0] != "c" and not line.startswith("tcgen05") and text in line
        if line.startswith(text) or within:
            return why
    return None


def firsts(taken, ask):
    """The first version that takes each line with the first of its targets, by `ask`."""
    found = {}
    for target in TARGETS:
        lines = [line for line in taken if taken[line] and taken[line][0] == target]
        for version in VERSIONS:
            left = [line for line in lines if line not in found]
            for line, good in zip(left, ask(version, target, left)):
                if good:
                    found[line] = version
    return found


def write(path, lines, ptxas_path):
    """Asks ptxas about all lines and writes those that some target lacks."""
    taken = {line: [] for line in lines}
    old = set()
    for target in (OLDER,) + TARGETS:
        judge = ptxas.Ptxas(ptxas_path, target)
        verdicts = judge.check(lines, context.Setting(VERSION, target).wrap)
        for line, refusal in zip(lines, verdicts):
            if refusal is None and target == OLDER:
                old.add(line)
            elif refusal is None:
                taken[line].append(target)
        print(f"{target}: {len(lines)} lines", file=sys.stderr)
    kept = {line: targets for line, targets in taken.items()
            if (targets or line in old) and not (line in old and len(targets) == len(TARGETS))}

    def ask(version, target, some):
        judge = ptxas.Ptxas(ptxas_path, target)
        verdicts = judge.check(some, context.Setting(version, target).wrap)
        return [refusal is None for refusal in verdicts]

    versions = firsts(kept, ask)
    with open(path, "w", encoding="utf-8") as out:
        for line, targets in kept.items():
            out.write(f"{versions.get(line, '-')}\t{' '.join(targets) or '-'}\t{line}\n")


def check(path, judge):
    """The lines of the table that other targets have here, as text."""
    rows = [line.rstrip("\n").split("\t") for line in
            pathlib.Path(path).read_text(encoding="utf-8").splitlines()]
    lines = [row[2] for row in rows]
    faults = []
    for target in TARGETS:
        answers = judge.check(lines, context.Setting(VERSION, target).wrap)
        for (_, targets, line), answer in zip(rows, answers):
            good, wanted = not answer.startswith("invalid"), target in targets.split()
            if good != wanted and reason(line) is None:
                who = "refused here, taken" if wanted else "taken here, refused"
                faults.append(f"{target}: {who} by ptxas: {line}")

    def ask(version, target, some):
        answers = judge.check(some, context.Setting(version, target).wrap)
        return [not answer.startswith("invalid") for answer in answers]

    here = firsts({row[2]: [target for target in row[1].split() if target != "-"]
                   for row in rows}, ask)
    for version, _, line in rows:
        if version != here.get(line, "-") and reason(line) is None:
            first = here.get(line, "-")
            faults.append(f"taken here from {first} on, by ptxas from {version}: {line}")
    return faults


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
        write(arguments.write, judge.samples(), path)
        return 0
    faults = check(arguments.check, judge)
    print("\n".join(faults))
    print(f"{len(faults)} differences")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
