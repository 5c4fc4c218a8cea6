#!/usr/bin/env python3
"""Builds and runs cudarc's own examples and unit tests on the crate kernelmill.

    cudarc_test.py CARGO CRATES SCRATCH

CRATES holds cudarc as scripts/setup.sh unpacks it; without it the test skips itself (77). SCRATCH
becomes a crate with copies that get the line `use kernelmill as cudarc;`. A unit test stays out
when it names what is not public or not there: LEFT_OUT says why.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

KERNELMILL = Path(__file__).resolve().parent / "kernelmill"
SKIPPED = 77
SECONDS = 600

MANIFEST = """[package]
name = "on_kernelmill"
version = "0.1.0"
edition = "2021"

[features]
default = ["std", "nvrtc", "cuda-13000"]
std = []
nvrtc = []
cuda-13000 = []

[dependencies]
kernelmill = {{ path = "{path}" }}

[lints.rust]
unexpected_cfgs = "allow"
unused_imports = "allow"

[workspace]
"""

EXAMPLES_LEFT_OUT = {
    "08-cupti": "CUPTI profiles GPUs",
    "cufile-copy": "cuFile reads files into GPUs",
}

# A file of tests: its source, and what `use super::*` means there.
SOURCES = {
    "core": ("driver/safe/core.rs", "use cudarc::driver::*; use std::sync::Arc;"),
    "launch": ("driver/safe/launch.rs", "use cudarc::driver::*;"),
    "graph": ("driver/safe/graph.rs", "use cudarc::driver::*;"),
    "unified": ("driver/safe/unified_memory.rs", "use cudarc::driver::*;"),
    "result": ("driver/result.rs", "use cudarc::driver::*;"),
    "nvrtc": ("nvrtc/safe.rs", "use cudarc::nvrtc::*;"),
    "nvrtc_result": ("nvrtc/result.rs", "use cudarc::nvrtc::{result::*, sys}; use std::ffi::CStr;"),
    "cublas": ("cublas/safe/mod.rs", "use cudarc::cublas::*;"),
    "asum": ("cublas/safe/asum.rs", "use cudarc::cublas::*;"),
    "gemm": ("cublas/safe/gemm.rs", "use cudarc::cublas::*;"),
    "gemv": ("cublas/safe/gemv.rs", "use cudarc::cublas::*;"),
}
HANDLES = "takes handles of CUDA's driver"
PRIVATE = "names what is private in cudarc"
HARDWARE = "compares times that a CPU has no part in"
LEFT_OUT = {
    "test_event_try_is_complete": HANDLES,
    "test_borrowed_stream_is_not_destroyed_on_drop": HANDLES,
    "test_post_alloc_arc_counts": "counts the references of cudarc's own events",
    "test_alloc_pinned_panics_on_size_overflow": "expects a panic where there is an error",
    "test_default_pinned_host_reads_are_faster_than_write_combined": HARDWARE,
    "test_pinned_copy_is_faster": HARDWARE,
    "test_launch_with_views": PRIVATE,
    "test_compile_options_build_none": PRIVATE,
    "test_compile_options_build_ftz": PRIVATE,
    "test_compile_options_build_multi": PRIVATE,
    "cublas_pointer_mode": "expects results in memory of the device",
}
# Tests that pass where cores are idle.
MAY_FAIL = {
    "test_par_launch": "two kernels beside each other are to take half the time",
    "test_multi_stream_concurrent_reads": "one kernel is to start before the other has ended",
    "test_device_side_assert": "the kernel is to fail after the event behind it is recorded",
}


def without(body: str, name: str) -> str:
    """A module's body without one function, which begins with its attributes."""
    lines = body.split("\n")
    head = next((i for i, line in enumerate(lines) if re.match(rf"    fn {name}\(", line)), None)
    if head is None:
        raise SystemExit(f"cudarc_test: cudarc has no test {name} any more")
    first = head
    while lines[first - 1].startswith(("    #[", "    ))]", "    ///", "        feature")):
        first -= 1
    last = next(i for i in range(head, len(lines)) if lines[i] == "    }")
    return "\n".join(lines[:first] + lines[last + 1 :])


def tests_of(source: str, meaning: str) -> tuple:
    """The tests of a source as a program of its own, and what stays out."""
    body = re.search(r"^mod tests? \{\n(.*)^\}", source, re.M | re.S)[1]
    names = re.findall(r"#\[test\][^{}]*?fn (\w+)\(", body)
    left_out = [name for name in names if name in LEFT_OUT]
    for name in left_out:
        body = without(body, name)
    body = body.replace("use super::*;", meaning).replace("crate::", "cudarc::")
    body = body.replace("use super::super::safe::{CudaContext, CudaSlice};", "")
    inner = "".join(re.findall(r"^ *#!\[.*\]\n", body, re.M))
    body = re.sub(r"^ *#!\[.*\]\n", "", body, flags=re.M)
    return f"{inner}use kernelmill as cudarc;\n{body}", left_out


class Scratch:
    """The crate with the copies."""

    def __init__(self, cargo: str, folder: Path):
        self.cargo, self.folder = cargo, folder
        self.environment = {**os.environ, "KM_CPU_DEVICES": "2", "RUST_BACKTRACE": "0"}

    def make(self, cudarc: Path) -> tuple:
        """Copies examples and tests; gives the examples and what stays out of the tests."""
        shutil.rmtree(self.folder, ignore_errors=True)
        for name in ("src", "tests"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "Cargo.toml").write_text(MANIFEST.format(path=KERNELMILL))
        (self.folder / "src/lib.rs").write_text("")
        shutil.copytree(cudarc / "examples", self.folder / "examples")
        examples = []
        for path in sorted((self.folder / "examples").glob("*.rs")):
            if path.stem in EXAMPLES_LEFT_OUT:
                path.unlink()
                continue
            path.write_text("use kernelmill as cudarc;\n" + path.read_text())
            examples.append(path.stem)
        left_out = []
        for name, (source, meaning) in SOURCES.items():
            text, names = tests_of((cudarc / "src" / source).read_text(), meaning)
            (self.folder / "tests" / f"{name}.rs").write_text(text)
            left_out += names
        return examples, left_out

    def run(self, *words, check=False) -> tuple:
        command = [self.cargo, words[0], "--quiet", "--offline", *words[1:]]
        done = subprocess.run(command, cwd=self.folder, env=self.environment, text=True,
                              capture_output=True, timeout=SECONDS, check=False)  # fmt: skip
        text = done.stdout + done.stderr
        if check and done.returncode != 0:
            print(text)
            raise SystemExit(f"cudarc_test: {' '.join(words)} failed")
        return done.returncode, text

    def examples(self, names: list) -> list:
        """Those that fail."""
        self.run("build", "--examples", check=True)
        failed = []
        for name in names:
            code, text = self.run("run", "--example", name)
            if code != 0:
                print(f"-- example {name}\n{text}")
                failed.append(name)
        return failed

    def tests(self) -> dict:
        """Test -> "ok" or "FAILED"; those that cudarc ignores run one by one."""
        self.run("test", "--tests", "--no-run", check=True)
        found = {}
        for file in SOURCES:
            _, listed = self.run("test", "--test", file, "--", "--list")
            results = dict.fromkeys(re.findall(r"^(\w+): test$", listed, re.M), "FAILED")
            _, text = self.run("test", "--test", file, "--", "--test-threads=1", "--format=pretty")
            results.update(re.findall(r"^test (\w+) (?:- should panic )?\.\.\. (\w+)", text, re.M))
            for name in [name for name, result in results.items() if result == "ignored"]:
                code, alone = self.run("test", "--test", file, "--", "--ignored", "--exact", name)
                results[name], text = "FAILED" if code else "ok", text + alone
            if "FAILED" in results.values():
                print(f"-- tests of {file}\n{text}")
            found.update(results)
        return found


def main() -> int:
    cargo, crates, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    if not (crates / "cudarc").exists():
        print(f"cudarc_test: {crates / 'cudarc'} is not there; scripts/setup.sh fetches it")
        return SKIPPED
    scratch = Scratch(cargo, folder)
    examples, left_out = scratch.make(crates / "cudarc")
    failed_examples = scratch.examples(examples)
    results = scratch.tests()
    failed = [name for name, result in results.items() if result != "ok"]
    passed = len(results) - len(failed)
    print(f"examples: {len(examples) - len(failed_examples)} of {len(examples)} run, "
          f"{len(EXAMPLES_LEFT_OUT)} stay out")  # fmt: skip
    print(f"unit tests: {passed} of {len(results)} pass, {len(left_out)} stay out")
    for name in left_out:
        print(f"  out: {name}: {LEFT_OUT[name]}")
    for name in failed:
        print(f"  failed: {name}{': ' + MAY_FAIL[name] if name in MAY_FAIL else ''}")
    return 1 if failed_examples or [name for name in failed if name not in MAY_FAIL] else 0


if __name__ == "__main__":
    sys.exit(main())
