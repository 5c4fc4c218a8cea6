"""Unpacks a GPU's results for a test's program: golden.py PROGRAM FOLDER."""

import lzma
import subprocess
import sys
import tempfile
from pathlib import Path


def main(program, folder):
    with tempfile.TemporaryDirectory() as scratch:
        data = Path(scratch, "textures.bin")
        data.write_bytes(lzma.decompress(Path(folder, "textures.bin.xz").read_bytes()))
        command = [program, str(Path(folder, "textures.tsv")), str(data)]
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
