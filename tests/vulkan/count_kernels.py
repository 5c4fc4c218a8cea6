#!/usr/bin/env python3
"""Counts the kernels of tests and benchmarks that a Vulkan device takes: how many there are, how
many become shaders, and why the others are refused.

    count_kernels.py KERNELMILL [--device URI] [--least N] [--list] [FILE ...]

KERNELMILL is the command. Without files: all .cu and .ptx files of tests/kernels and bench/kernels.
--list names the refused kernels. The exit status is 1 if fewer than N kernels are taken.
"""
import argparse
import collections
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("tests/kernels", "bench/kernels")
# Options of NVRTC, of which the first that compile a file are taken.
OPTIONS = ((), ("--nvrtc=-rdc=true",))
# A refusal without its place, instruction and device, which differ from kernel to kernel.
REASON = re.compile(r"is not supported on '[^']*': (.*)", re.DOTALL)


def listed(command, path, device):
    """The kernels of a file, and the message if there is none that the device takes."""
    architecture = ["--arch", "90"] if path.suffix == ".cu" else []
    for options in OPTIONS:
        done = subprocess.run([command, "kernels", path, "--json", "--device", device,
                               *architecture, *options], capture_output=True, text=True)
        answer = json.loads(done.stdout)
        if isinstance(answer, list):
            return answer, ""
        if answer["error"]["status"] != "KM_ERROR_COMPILATION_FAILED":
            break
    return [], answer["error"]["message"]


def kernels_of(command, path, device):
    """(name, refusal) of each kernel; the refusal of one that is taken is empty."""
    kernels, message = listed(command, path, device)
    if message:  # the CPU says which kernels the module has
        kernels, _ = listed(command, path, "cpu")
    return [(f"{path.stem}.{kernel['name']}", message or kernel.get("refusal", ""))
            for kernel in kernels]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", metavar="KERNELMILL")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--device", default="vulkan:0")
    parser.add_argument("--least", type=int, default=0, metavar="N")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    files = arguments.files or sorted(path for folder in FOLDERS
                                      for path in (ROOT / folder).rglob("*")
                                      if path.suffix in (".cu", ".ptx"))
    total, refused, unread = 0, collections.defaultdict(list), []
    for path in files:
        kernels = kernels_of(arguments.command, path, arguments.device)
        if not kernels:
            unread.append(path.name)
        for name, refusal in kernels:
            total += 1
            if refusal:
                reason = REASON.search(refusal)
                refused[reason[1] if reason else refusal].append(name)
    taken = total - sum(len(names) for names in refused.values())
    print(f"{taken} of {total} kernels in {len(files) - len(unread)} files become shaders on "
          f"{arguments.device}")
    if unread:
        print("files whose kernels the command does not list:", ", ".join(unread))
    for reason, names in sorted(refused.items(), key=lambda entry: -len(entry[1])):
        print(f"{len(names):>4}  {reason}")
        if arguments.list:
            print("      " + " ".join(names))
    return 1 if taken < arguments.least else 0


if __name__ == "__main__":
    sys.exit(main())
