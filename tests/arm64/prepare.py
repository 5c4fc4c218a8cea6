#!/usr/bin/env python3
"""Makes what emulated tests load: prepare.py ARM64_BUILD NATIVE_BUILD FOLDER [REGEX].

Each test of ARM64_BUILD whose environment names FOLDER as KM_TEST_PREPARED runs here, by the
program of NATIVE_BUILD, which leaves the PTX and the object files of its kernels in FOLDER. REGEX
chooses tests by their names, as ctest -R does; those that FOLDER has everything of are left out.
"""

import concurrent.futures
import json
import os
import subprocess
import sys
from pathlib import Path

LIMIT_S = 3600  # of a busy machine: the larger matrix products compile for minutes on an idle one
# Variables of the emulated processor that would choose this machine's code or compiler.
DROPPED = ("KM_CPU_ISA", "KM_NVRTC")
ADDED = {"KM_CPU_OBJECT_ISA": "neon", "KM_CACHE_DIR": "off"}


def mark_of(name: str, folder: Path) -> Path:
    """The file that says that all of a test is prepared."""
    return folder / f"{name}.done"


def tests_of(build: Path, folder: Path, chosen: str) -> list:
    """Triples of name, words of the command, and environment."""
    done = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1", "-R", chosen],
                          capture_output=True, text=True, check=True)
    found = []
    for test in json.loads(done.stdout)["tests"]:
        values = {each["name"]: each["value"] for each in test.get("properties", [])}
        pairs = [pair.partition("=") for pair in values.get("ENVIRONMENT", [])]
        environment = {name: value for name, _, value in pairs}
        if environment.get("KM_TEST_PREPARED") == str(folder):
            found.append((test["name"], test.get("command", []), environment))
    return found


def prepare(test: tuple, build: Path, native: Path, folder: Path) -> str:
    """Runs the test and returns its error; nothing if all went well."""
    name, command, environment = test
    programs = [i for i, word in enumerate(command) if word.startswith(f"{build}/tests/")]
    if not programs:
        return f"{name} has no program: build its target for AArch64"
    words = [native / "tests" / Path(command[programs[0]]).name, *command[programs[0] + 1:]]
    kept = {key: value for key, value in environment.items() if key not in DROPPED}
    log = folder / f"{name}.txt"
    with log.open("wb") as out:
        try:
            done = subprocess.run(words, env={**os.environ, **kept, **ADDED}, check=False,
                                  stdout=out, stderr=subprocess.STDOUT, timeout=LIMIT_S)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"preparing {name}: {error}"
    if done.returncode != 0:
        return f"preparing {name} failed: {log}"
    mark_of(name, folder).touch()
    return ""


def main() -> int:
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    build, native, folder = (Path(word).resolve() for word in sys.argv[1:4])
    chosen = sys.argv[4] if len(sys.argv) == 5 else "."
    folder.mkdir(parents=True, exist_ok=True)
    tests = [test for test in tests_of(build, folder, chosen)
             if not mark_of(test[0], folder).exists()]
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for said in pool.map(lambda test: prepare(test, build, native, folder), tests):
            if said:
                print(said, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
