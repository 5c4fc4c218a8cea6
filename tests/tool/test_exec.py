"""kernelmill exec: programs on our CUDA driver. The program here is Python, by ctypes."""

import os
import subprocess
import sys
import unittest

from tool import TOOL, Case

PROGRAM = """
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
assert cuda.cuInit(0) == 0
count, major, memory = ctypes.c_int(), ctypes.c_int(), ctypes.c_size_t()
assert cuda.cuDeviceGetCount(ctypes.byref(count)) == 0
assert cuda.cuDeviceGetAttribute(ctypes.byref(major), 75, 0) == 0
assert cuda.cuDeviceTotalMem_v2(ctypes.byref(memory), 0) == 0
print(count.value, major.value, memory.value)
sys.exit(int(sys.argv[1]))
"""


class Exec(Case):
    def run_program(self, *options, code=0):
        words = [TOOL, "exec", *options, "--", sys.executable, "-c", PROGRAM, str(code)]
        return subprocess.run(words, capture_output=True, text=True, cwd=self.folder, timeout=60)

    def test_a_program_finds_the_driver(self):
        done = self.run_program(code=7)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertEqual(done.stdout.split()[:2], ["1", "8"])

    def test_devices_are_as_asked(self):
        done = self.run_program("--devices", "3", "--cc", "8.0", "--memory", "3G")
        self.assertEqual(done.stdout.split(), ["3", "8", str(1 << 30)], done.stderr)

    def test_calls_are_shown(self):
        done = self.run_program("--log")
        self.assertIn("cuDeviceGetCount: CUDA_SUCCESS", done.stderr)
        quiet = self.run_program()
        self.assertEqual(quiet.stderr, "")

    def test_the_folder_alone_is_enough(self):
        shown = subprocess.run([TOOL, "exec", "--", "env"], capture_output=True, text=True)
        folder = next(
            line.split("=", 1)[1].split(":")[0]
            for line in shown.stdout.splitlines()
            if line.startswith("LD_LIBRARY_PATH=")
        )
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, "0"],
            env={**os.environ, "LD_LIBRARY_PATH": folder},
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_mistakes_are_told(self):
        words = [TOOL, "exec", "--", "no-such-program"]
        done = subprocess.run(words, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no-such-program", done.stderr)
        done = subprocess.run([TOOL, "exec", "--devices", "0", "--", "true"], capture_output=True)
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main()
