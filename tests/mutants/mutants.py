#!/usr/bin/env python3
"""Mutation test of the checker: sound kernels, and each without a line that makes it so."""

import argparse
import collections
import concurrent.futures
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
KINDS = ("barrier", "warp barrier", "fence", "wait", "bound", "initialisation")
MARK = re.compile(r"\s*// (mutant|harmless): ([a-z ]+)$")
# What a mark is due for: each line with one of these calls has one.
ORDERS = re.compile(r"__syncthreads\(|__syncwarp\(|__threadfence|\.sync\(\)|fence\.|wait_prior\(")
SHARE = 0.95
TIMEOUT_S = 60

Program = collections.namedtuple("Program", "file name run text")
Mutant = collections.namedtuple("Mutant", "program number kind harmless line text")


def programs_of(file):
    """The include lines of a file, and its programs: each from its `// run:` line to the next."""
    with open(os.path.join(FOLDER, file), encoding="utf-8") as source:
        parts = re.split(r"^// run: (.*)\n", source.read(), flags=re.MULTILINE)
    programs = []
    for run, text in zip(parts[1::2], parts[2::2]):
        name = re.search(r"^KERNEL .*?(\w+)\((?:const |int|volatile )", text, re.MULTILINE).group(1)
        programs.append(Program(file, name, run, text))
    return parts[0], programs


def without_condition(code):
    """`if (condition) statement` as `statement`, or as nothing if that only leaves."""
    begin = code.index("if (") + len("if (")
    depth, end = 1, begin
    while depth > 0:
        depth += {"(": 1, ")": -1}.get(code[end], 0)
        end += 1
    statement = code[end:].strip()
    return "" if statement in ("return;", "continue;") else statement


def mutants_of(program):
    """One mutant for each marked line; raises ValueError if a mark lacks, or lacks its reason."""
    lines = program.text.splitlines()
    mutants = []
    for index, line in enumerate(lines):
        mark = MARK.search(line)
        if mark is None:
            if ORDERS.search(line.split("//")[0]) and "shfl" not in line:
                raise ValueError(f"{program.file}: {program.name} has no mark at: {line.strip()}")
            continue
        code, kind = line[:mark.start()], mark.group(2)
        if kind not in KINDS:
            raise ValueError(f"{program.file}: '{kind}' is no kind of mutant")
        if mark.group(1) == "harmless" and not lines[index - 1].strip().startswith("// Harmless"):
            raise ValueError(f"{program.file}: the line before '{code.strip()}' gives no reason")
        left = without_condition(code) if kind == "bound" else ""
        text = "\n".join([*lines[:index], left, *lines[index + 1:]])
        mutants.append(Mutant(program, len(mutants) + 1, kind, mark.group(1) == "harmless",
                              code.strip(), text))
    return mutants


def variant(text, name, number):
    """The program in a namespace of its own, with a kernel that is called after its number."""
    text = text.replace(f" {name}(", f" {name}_{number}(")
    return f"namespace {name}_of_{number} {{\n{text}\n}}\n"


class Runner:
    """Compiles files of variants and runs one kernel of them under the checker."""

    def __init__(self, tool, folder):
        self.tool, self.folder = tool, folder
        self.environment = {**os.environ, "KM_CACHE_DIR": "off"}

    def path(self, name):
        return os.path.join(self.folder, name)

    def compile(self, file, text):
        """The PTX of all variants of a file."""
        with open(self.path(file), "w", encoding="utf-8") as source:
            source.write(text)
        subprocess.run([self.tool, "compile", self.path(file), "-o", self.path(file + ".ptx"),
                        "--arch", "90", "--nvrtc=-lineinfo", "-I", FOLDER],
                       check=True, env=self.environment)

    def argument(self, word):
        """A word of a run line as an argument of `kernelmill run`."""
        array = re.fullmatch(r"(random|zeros)\[(\d+)\]", word)
        if array is None:
            return "i32:" + word
        if array.group(1) == "zeros":
            return f"zeros:i32[{array.group(2)}]"
        path = self.path(f"random{array.group(2)}.npy")
        if not os.path.exists(path):
            write_random(path, int(array.group(2)))
        return "in:" + path

    def findings(self, program, number):
        """The set of tools with findings in a variant; 'hang' or 'failed' if it has no end."""
        grid, block, *words = program.run.split()
        shared = [word[len("shared="):] for word in words if word.startswith("shared=")]
        told = self.path(f"{program.name}_{number}.told")
        command = [self.tool, "run", self.path(program.file + ".ptx"), "-q", "--device", "cpu",
                   "--kernel", f"{program.name}_{number}", "--grid", grid, "--block", block,
                   "--shared", shared[0] if shared else "0"]
        for word in words:
            if "=" not in word:
                command += ["--arg", self.argument(word)]
        environment = {**self.environment, "KM_CHECK": "all", "KM_CHECK_REPORT": told}
        tools = set()
        try:
            result = subprocess.run(command, env=environment, capture_output=True, text=True,
                                    timeout=TIMEOUT_S, check=False)
            if result.returncode != 0:
                tools.add("failed: " + result.stderr.strip()[-200:])
        except subprocess.TimeoutExpired:
            tools.add("hang")
        if os.path.exists(told):
            with open(told, encoding="utf-8", errors="replace") as file:
                fields = [line.split("\x1f") for line in file]
            tools |= {each[3] for each in fields if each[0] == "finding"}
        return tools


def write_random(path, count):
    """An array of numbers from 0 to 999, the same ones each time."""
    numbers = random.Random(count)
    header = repr({"descr": "<i4", "fortran_order": False, "shape": (count,)})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{count}i", *(numbers.randrange(1000) for _ in range(count))))


def is_found(tools):
    return any(tool in ("memory", "init", "race", "sync") for tool in tools)


def report(originals, mutants):
    """Prints what was found; the number of false alarms and the share of mutants found."""
    alarms = 0
    for program, tools in originals:
        if tools:
            alarms += 1
            print(f"sound, but: {program.file} {program.name}: {', '.join(sorted(tools))}")
    counts = {kind: [0, 0, 0] for kind in KINDS}
    for mutant, tools in mutants:
        place = (f"{mutant.program.file} {mutant.program.name} without mark {mutant.number}, "
                 f"'{mutant.line}'")
        if mutant.harmless:
            counts[mutant.kind][2] += 1
            if tools:
                alarms += 1
                print(f"harmless, but: {place}: {', '.join(sorted(tools))}")
            continue
        counts[mutant.kind][1] += 1
        counts[mutant.kind][0] += is_found(tools)
        if not is_found(tools):
            print(f"missed {mutant.kind}: {place}: {', '.join(sorted(tools)) or 'nothing'}")
    for kind, (found, all_of_it, harmless) in counts.items():
        print(f"{kind:15} {found:4} of {all_of_it:4} found, {harmless} harmless")
    found = sum(each[0] for each in counts.values())
    all_of_them = sum(each[1] for each in counts.values())
    print(f"{len(originals)} sound kernels and {all_of_them} mutants: {alarms} false alarms, "
          f"{found} found ({100 * found / all_of_them:.1f} %)")
    return alarms, found / all_of_them


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool", help="the command kernelmill")
    parser.add_argument("--only", default="", help="programs whose name has this in it")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="km_mutants_") as folder:
        runner = Runner(os.path.abspath(options.tool), folder)
        originals, mutants = [], []
        for file in sorted(name for name in os.listdir(FOLDER) if name.endswith(".cu")):
            text, programs = programs_of(file)
            programs = [each for each in programs if options.only in each.name]
            for program in programs:
                originals.append(program)
                text += variant(program.text, program.name, 0)
                for mutant in mutants_of(program):
                    mutants.append(mutant)
                    text += variant(mutant.text, program.name, mutant.number)
            if programs:
                runner.compile(file, text)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            sound = pool.map(lambda each: runner.findings(each, 0), originals)
            found = pool.map(lambda each: runner.findings(each.program, each.number), mutants)
            alarms, share = report(list(zip(originals, sound)), list(zip(mutants, found)))
    return 0 if alarms == 0 and share >= SHARE else 1


if __name__ == "__main__":
    sys.exit(main())
