#!/usr/bin/env python3
"""The Sobel program of one language writes the bytes that it should, as the one in C does:
examples.py --c PROGRAM --program PROGRAM.

Run without LD_LIBRARY_PATH: a program finds the library by itself.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PHOTO = Path(__file__).resolve().parents[2] / "examples" / "data" / "astronaut.png"
# The kernel's arithmetic in NumPy, over the picture as Pillow reads it.
EXPECTED_SHA256 = "99ceee03e430597f0ffe204f1613bedd297d9a554d89bdcc2839255bec8e226f"


def run(program: str, *arguments, **environment):
    clean = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
    return subprocess.run([program, *map(str, arguments)], env={**clean, **environment},
                          capture_output=True, text=True, timeout=120)


def edges(program: str, folder: Path, **environment) -> bytes:
    output = folder / "edges.pgm"
    output.unlink(missing_ok=True)
    done = run(program, PHOTO, output, **environment)
    if done.returncode != 0:
        raise SystemExit(f"{program} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return output.read_bytes()


def check_failure(program: str, folder: Path):
    """A device that does not exist: a message that says so, not a crash."""
    done = run(program, PHOTO, folder / "none.pgm", KM_DEVICE="nowhere")
    if done.returncode <= 0 or "nowhere" not in done.stderr:
        raise SystemExit(f"{program} on no device ended with {done.returncode}: {done.stderr}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--c", required=True, help="the program in C")
    parser.add_argument("--program", required=True, help="the program to compare with it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        expected = edges(options.c, folder, KM_CPU_THREADS="1")
        if hashlib.sha256(expected).hexdigest() != EXPECTED_SHA256:
            raise SystemExit(f"{options.c}: not the picture that it should be")
        if edges(options.program, folder) != expected:
            raise SystemExit(f"{options.program}: not the bytes that {options.c} writes")
        check_failure(options.program, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
