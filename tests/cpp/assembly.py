#!/usr/bin/env python3
"""Compares the machine code of hot calls by kernelmill.hpp with that of the C calls they make.

What counts is the way without a failure: the instructions outside of sections for cold code. The
C++ functions may have as many as the C functions, which check the status, and no other calls.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

INCLUDE = Path(__file__).resolve().parents[2] / "include"
SOURCE = """
#include <kernelmill/kernelmill.hpp>
[[noreturn, gnu::cold]] void failed(km_status status);
inline void check(km_status status) {
  if (__builtin_expect(status != KM_SUCCESS, 0)) failed(status);
}
struct pair { km_slice handle; std::uint64_t size, units; };
extern "C" {
bool c_query(const km_stream& stream) {
  const km_status status = km_stream_query(stream);
  if (status == KM_NOT_READY) return false;
  check(status);
  return true;
}
bool cpp_query(const km::stream& stream) { return stream.query(); }
void c_launch(km_launch& launch) { check(km_launch_submit(launch)); }
void cpp_launch(km::launch& launch) { launch.submit(); }
void c_copy(const km_stream& stream, const pair& to, const pair& from) {
  check(km_slice_copy(stream, to.handle, 0, from.handle, 0, from.size * sizeof(float)));
}
void cpp_copy(const km::stream& stream, const km::slice<float>& to, const km::slice<float>& from) {
  to.copy_from(stream, from);
}
void c_wait(const km_stream& stream) { check(km_stream_synchronize(stream)); }
void cpp_wait(const km::stream& stream) { stream.synchronize(); }
void c_argument(km_launch& launch, const pair& memory) {
  check(km_launch_arg_slice(launch, memory.handle, 0));
}
void cpp_argument(km::launch& launch, const km::slice<float>& memory) { launch.arg(memory); }
}
"""
CALLS = ("query", "launch", "copy", "wait", "argument")
# The function that a call of the header passes failures to stands for that of the C side.
FAILURES = re.compile(r"_Z6failedi|_ZN2km2v16detail4failEi|_ZN2km2v16detail4failEi@PLT")


def functions(assembly: str) -> dict:
    """The hot instructions of each function, operands left out but for calls."""
    found, name, is_cold = {}, None, False
    for line in assembly.splitlines():
        if re.match(r"\s*\.(text|section)\b", line):
            is_cold = "unlikely" in line or ".cold" in line
        elif match := re.match(r"(c(?:pp)?_\w+):", line):
            name = match[1]
            found.setdefault(name, [])
        elif re.match(r"\s*\.size\b", line):
            name = None
        elif name and not is_cold and (match := re.match(r"\s+([a-z]\w*)\s*(.*)", line)):
            is_call = match[1].startswith("call") or (match[1] == "jmp" and "km_" in match[2])
            target = FAILURES.sub("failed", match[2]).split("@")[0]
            found[name].append(f"call {target}" if is_call else match[1])
    return found


def compare(compiler: str, hot: dict) -> int:
    failures = 0
    for call in CALLS:
        c, cpp = hot[f"c_{call}"], hot[f"cpp_{call}"]
        calls = [[line for line in lines if line.startswith("call")] for lines in (c, cpp)]
        if not c or len(cpp) > len(c) or calls[0] != calls[1]:
            failures += 1
            print(f"{compiler}, {call}: {len(cpp)} instructions, C has {len(c)}\n  {cpp}\n  {c}")
        else:
            print(f"{compiler}, {call}: {len(cpp)} instructions, C has {len(c)}")
    return failures


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("compilers", nargs="+")
    options = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(INCLUDE, Path(folder) / "include")
        source = Path(folder) / "source.cpp"
        source.write_text(SOURCE)
        for compiler in options.compilers:
            command = [compiler, "-x", "c++", "-std=c++17", "-O2", "-S", "-o", "-",
                       "-fno-asynchronous-unwind-tables", "-fcf-protection=none",
                       "-I", Path(folder) / "include", source]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                print(done.stderr)
                return 1
            failures += compare(compiler, functions(done.stdout))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
