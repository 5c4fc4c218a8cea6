#!/usr/bin/env python3
"""Tests of programs that others wrote, run on our CUDA driver library.

    clients.py DRIVER_FOLDER NVRTC_FOLDER WORK_FOLDER [--baseline=FOLDER] [NAME ...]

With --baseline they also run on the driver there, which does nothing, to tell which of the tests
that pass show something. Prints a table in Markdown; the exit code is 1 when a test fails without a
reason in the list below.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ARRAYS = "CUDA arrays: not there"
TIMES = "compares times that a CPU has no part in"

# Each: crate, version, arguments of `cargo test --lib`, and the tests that are expected to fail,
# with the reason.
CLIENTS = {
    "cudarc": {
        "version": "0.19.10",
        "arguments": [
            "--no-default-features",
            "--features",
            "std,driver,nvrtc,dynamic-loading,cuda-13020",
        ],
        "reasons": {
            "driver::safe::core::tests::"
            "test_default_pinned_host_reads_are_faster_than_write_combined": TIMES,
            "driver::safe::launch::tests::test_par_launch": TIMES + ", where cores are busy",
        },
    },
    "rustacuda": {
        "version": "0.1.3",
        "arguments": [],
        "reasons": {
            f"memory::array::test::{name}": ARRAYS
            for name in (
                "allow_1d_arrays",
                "allow_1d_layered_arrays",
                "allow_2d_arrays",
                "allow_cubemaps",
                "allow_layered_cubemaps",
                "descriptor_round_trip",
            )
        },
    },
    "cust": {"version": "0.3.2", "arguments": []},
}
CLIENTS["cust"]["reasons"] = CLIENTS["rustacuda"]["reasons"]


def run(words, folder, environment, check=True):
    done = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, timeout=1200
    )
    if check and done.returncode != 0:
        sys.exit(f"clients: {' '.join(map(str, words))}:\n{done.stderr[-3000:]}")
    return done.stdout


def source_of(name, client, work):
    """The crate's own folder, unpacked by cargo, copied to where it can be built."""
    folder = work / f"{name}-{client['version']}"
    if folder.exists():
        return folder
    probe = work / "fetch" / name
    (probe / "src").mkdir(parents=True, exist_ok=True)
    (probe / "src/lib.rs").write_text("")
    (probe / "Cargo.toml").write_text(
        f'[package]\nname = "fetch-{name}"\nversion = "0.1.0"\nedition = "2021"\n\n'
        f'[workspace]\n\n[dependencies]\n'
        f'{name} = {{ version = "={client["version"]}", default-features = false }}\n'
    )
    found = json.loads(run(["cargo", "metadata", "--format-version", "1"], probe, None))
    manifest = next(each["manifest_path"] for each in found["packages"] if each["name"] == name)
    shutil.copytree(Path(manifest).parent, folder)
    with open(folder / "Cargo.toml", "a") as file:
        file.write("\n[workspace]\n")
    return folder


def environment_for(driver, nvrtc, work):
    """What the crates' build scripts look for is a toolkit's tree."""
    toolkit = work / "toolkit" / Path(driver).name
    (toolkit / "lib64").mkdir(parents=True, exist_ok=True)
    (toolkit / "include").mkdir(exist_ok=True)
    link = toolkit / "lib64/libcuda.so"
    link.unlink(missing_ok=True)
    link.symlink_to(Path(driver) / "libcuda.so.1")
    header = next(Path(nvrtc).parent.glob("include/cuda.h"))
    shutil.copy(header, toolkit / "include/cuda.h")
    places = {name: str(toolkit) for name in ("CUDA_LIBRARY_PATH", "CUDA_PATH", "CUDA_ROOT")}
    return {
        **os.environ,
        **places,
        "LIBRARY_PATH": str(toolkit / "lib64"),
        "LD_LIBRARY_PATH": f"{driver}:{nvrtc}",
        "KM_CPU_DEVICES": "2",
        "RUST_BACKTRACE": "0",
    }


def results(client, folder, environment):
    """{test: "ok", "FAILED" or "ignored"}; empty when the program came to no end. Tests that their
    authors have ignored run one by one: some break the context for all others."""

    def tests(*options):
        words = ["cargo", "test", "--lib", *client["arguments"], "--", *options]
        text = run(words, folder, environment, check=False)
        return dict(re.findall(r"^test (\S+) (?:- should panic )?\.\.\. (\w+)", text, re.M))

    found = tests()
    for name in [name for name, result in found.items() if result == "ignored"]:
        found.update(tests("--ignored", "--exact", name))
    return found


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    noop = [word.split("=", 1)[1] for word in sys.argv if word.startswith("--baseline=")]
    driver, nvrtc, work = (Path(word).resolve() for word in words[:3])
    chosen = words[3:] or list(CLIENTS)
    work.mkdir(parents=True, exist_ok=True)
    print("| client | tests | passed | failed | that show something |\n|---|---|---|---|---|")
    notes, bad = [], False
    for name in chosen:
        client = CLIENTS[name]
        folder = source_of(name, client, work)
        found = results(client, folder, environment_for(driver, nvrtc, work))
        passed = {test for test, result in found.items() if result == "ok"}
        failed = sorted(set(found) - passed)
        telling = "-"
        if noop:
            idle = results(client, folder, environment_for(Path(noop[0]).resolve(), nvrtc, work))
            telling = len(passed - {test for test, result in idle.items() if result == "ok"})
        counts = f"{len(found)} | {len(passed)} | {len(failed)} | {telling}"
        print(f"| {name} {client['version']} | {counts} |")
        for test in failed:
            reason = client["reasons"].get(test)
            bad = bad or reason is None
            notes.append(f"- {name}: `{test}`: {reason or 'NOT EXPECTED'}")
        bad = bad or not found
    print("\nFailed:\n" + "\n".join(notes))
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
