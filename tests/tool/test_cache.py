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

    def test_object_files_need_no_compiler(self):
        self.good("compile", "scale.cu", "--target", "cpu", "--block", "32")
        for block, name in (("32", "32x1x1"), ("7", "0x1x1"), ("4,2", "0x0x0")):
            result = self.good(
                "run", "scale.kmo", "--device", "cpu", "--block", block, "--arg", "in:x.npy",
                "--arg", "out:y.npy:@0", "--arg", "f32:2", "--arg", "i32:4",
                env={"KM_CACHE_DIR": "off", "KM_LOG": "debug,cpu"})
            lines = [line for line in result.stderr.splitlines() if "kernel 'scale' for" in line]
            self.assertEqual(len(lines), 1, result.stderr)
            self.assertIn(f"for blocks of {name}: ", lines[0])
            self.assertIn("from the object file", lines[0])
        self.good("compile", "scale.cu", "-o", "scale.ptx")
        self.good("compile", "scale.ptx", "--target", "cpu", "-o", "again.kmo")
        self.assertIn("--block goes with --target cpu",
                      self.bad(2, "compile", "scale.cu", "--block", "32"))

    def test_object_file_for_a_better_machine_is_refused(self):
        self.good("compile", "scale.cu", "--target", "cpu")
        content = bytearray(self.read("scale.kmo"))
        self.assertEqual(content[:8], b"KMOBJECT")
        self.assertIn(content[12], (1, 2, 3))
        if content[12] == 3:
            return  # there is no better one than this
        content[12] = 3
        self.write("better.kmo", bytes(content))
        message = self.bad(1, "run", "better.kmo", "--device", "cpu", "--arg", "in:x.npy")
        self.assertIn("is for avx512, and this machine has", message)

    def test_default_folder(self):
        result = self.good("run", "scale.cu", "--device", "cpu", "--block", "32", "--arg",
                           "in:x.npy", "--arg", "out:y.npy:@0", "--arg", "f32:2", "--arg",
                           "i32:@0.count", env={"KM_CACHE_DIR": None, "HOME": self.folder,
                                                "XDG_CACHE_HOME": None})
        # The PTX, and the code that was made of it.
        self.assertEqual(len(os.listdir(self.path(".cache/kernelmill"))), 2, result.stderr)


if __name__ == "__main__":
    unittest.main()
