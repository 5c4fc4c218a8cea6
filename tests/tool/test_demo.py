"""The demo: every pixel as plain C++ computes it, on any number of threads."""

import json
import os
import shutil
import subprocess
import unittest

from tool import SOURCE_DIR, Case

PICTURES = ("blur.png", "edges.png", "equalized.png", "resized.png")


class Demo(Case):
    def run_photo(self, **env):
        shutil.copy(os.path.join(SOURCE_DIR, "examples/data/astronaut.png"), self.folder)
        return subprocess.run([os.environ["TEST_PHOTO"], self.path("astronaut.png")],
                              env={**os.environ, **env}, capture_output=True, text=True,
                              timeout=120, check=False)

    def check(self, **env):
        result = self.run_photo(**env)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(result.stdout.count("same bits as plain C++"), len(PICTURES))
        for name in PICTURES:
            self.assertGreater(len(self.read(name)), 10000, name)

    def test_default(self):
        self.check()

    def test_one_thread(self):
        self.check(KM_CPU_THREADS="1")

    def test_next_lower_instruction_set(self):
        devices = json.loads(self.good("info", "--json").stdout)["devices"]
        isa = next(d["isa"] for d in devices if d["uri"] == "cpu:0")
        self.check(KM_CPU_ISA={"avx512": "avx2"}.get(isa, "x86-64-v2"))

    def test_missing_picture(self):
        result = subprocess.run([os.environ["TEST_PHOTO"], self.path("none.png")],
                                capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("none.png", result.stderr)


if __name__ == "__main__":
    unittest.main()
