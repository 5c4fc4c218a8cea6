"""The code cache on disk, as one run of the command leaves it to the next."""

import os
import stat
import unittest

from tool import SCALE, Case, npy, read_npy


class Cache(Case):
    def setUp(self):
        super().setUp()
        self.write("scale.cu", SCALE)
        self.write("x.npy", npy("f32", [5], [1, 2, 3.5, -4, 0.25]))
        self.cache = self.path("cache")

    def scale(self, folder=None, **variables):
        """Where the code of the kernel came from."""
        result = self.good(
            "run", "scale.cu", "--device", "cpu", "--block", "32", "--arg", "in:x.npy", "--arg",
            "out:y.npy:@0", "--arg", "f32:2", "--arg", "i32:@0.count",
            env={"KM_CACHE_DIR": folder or self.cache, "KM_LOG": "debug,cpu,cache", **variables})
        self.assertEqual(read_npy(self.read("y.npy")), ("f32", (5,), [2, 4, 7, -8, 0.5]))
        self.log = result.stderr
        origins = [line for line in self.log.splitlines() if "kernel 'scale' for" in line]
        self.assertEqual(len(origins), 1, self.log)
        return origins[0].rsplit(", ", 1)[1]

    def files(self):
        return [os.path.join(self.cache, name) for name in os.listdir(self.cache)]

    def test_second_run_finds_code(self):
        self.assertEqual(self.scale(), "made")
        self.assertEqual(stat.S_IMODE(os.stat(self.cache).st_mode), 0o700)
        self.assertEqual(self.scale(), "from the cache")
        self.assertEqual(self.scale("off"), "made")

    def test_what_changes_the_code_is_in_the_key(self):
        self.assertEqual(self.scale(), "made")
        self.assertEqual(self.scale(KM_CPU_MEMORY="plain"), "made")
        self.assertEqual(self.scale(KM_CPU_ISA="x86-64-v2"), "made")
        self.assertEqual(self.scale(KM_CPU_MODE="c"), "made")
        self.assertEqual(self.scale(KM_CPU_SHAPES="0"), "made")
        self.write("scale.cu", SCALE.replace("factor * in[i]", "factor * in[i] + 0"))
        self.assertEqual(self.scale(), "made")
        self.write("scale.cu", SCALE)
        self.assertEqual(self.scale(), "from the cache")

    def test_damage_is_noticed(self):
        self.scale()
        for name in self.files():
            with open(name, "r+b") as file:
                file.seek(-20, os.SEEK_END)
                file.write(b"\xff" * 10)
        self.assertEqual(self.scale(), "made")
        self.assertIn("damaged", self.log)
        self.assertEqual(self.scale(), "from the cache")

    def test_folder_of_everybody_is_refused(self):
        os.mkdir(self.cache)
        os.chmod(self.cache, 0o777)
        self.assertEqual(self.scale(), "made")
        self.assertIn("others can write to it", self.log)
        self.assertEqual(self.files(), [])

    def test_default_folder(self):
        result = self.good("run", "scale.cu", "--device", "cpu", "--block", "32", "--arg",
                           "in:x.npy", "--arg", "out:y.npy:@0", "--arg", "f32:2", "--arg",
                           "i32:@0.count", env={"KM_CACHE_DIR": None, "HOME": self.folder,
                                                "XDG_CACHE_HOME": None})
        self.assertEqual(len(os.listdir(self.path(".cache/kernelmill"))), 1, result.stderr)


if __name__ == "__main__":
    unittest.main()
