"""kernelmill compile."""

import os
import unittest

from tool import SCALE, Case


class Compile(Case):
    def setUp(self):
        super().setUp()
        self.write("scale.cu", SCALE)

    def test_named_output(self):
        result = self.good("compile", "scale.cu", "-o", "out.ptx")
        self.assertEqual((result.stdout, result.stderr), ("", ""))
        self.assertIn(b".visible .entry scale(", self.read("out.ptx"))

    def test_default_output_lies_here(self):
        os.mkdir(self.path("deep"))
        os.rename(self.path("scale.cu"), self.path("deep/scale.v2.cu"))
        self.good("compile", "deep/scale.v2.cu")
        self.assertIn(b".entry scale(", self.read("scale.v2.ptx"))

    def test_standard_output(self):
        result = self.good("compile", "scale.cu", "-o", "-")
        self.assertIn(".visible .entry scale(", result.stdout)
        self.assertEqual(os.listdir(self.folder), ["scale.cu"])

    def test_architecture(self):
        for arch in ("80", "compute_80", "sm_80"):
            ptx = self.good("compile", "scale.cu", "-o", "-", "--arch", arch).stdout
            self.assertIn(".target sm_80", ptx)
        message = self.bad(1, "compile", "scale.cu", "-o", "-", "--arch", "1")
        self.assertIn(" compiles for ", message)
        self.assertNotIn("km_program", message)

    def test_defines_includes_and_other_options(self):
        os.mkdir(self.path("include"))
        self.write("include/far.h", "#define FAR 1000")
        self.write("near.h", "#define NEAR 30")
        self.write("k.cu", '#include "near.h"\n#include <far.h>\n'
                   "static_assert(N == 4 && FAR == 1000 && NEAR == 30 && defined_twice);\n"
                   "static_assert(__cplusplus == 202002L);")
        self.good("compile", "k.cu", "-DN=4", "-D", "defined_twice=true", "-Iinclude",
                  "--nvrtc=-std=c++20")

    def test_quoted_includes_start_at_the_file(self):
        os.mkdir(self.path("deep"))
        self.write("deep/own.h", "#define OWN 7")
        self.write("deep/k.cu", '#include "own.h"\nstatic_assert(OWN == 7);')
        self.good("compile", "deep/k.cu", "-o", "-")

    def test_templates(self):
        self.write("t.cu", "template <class T> __global__ void twice(T* p) { *p += *p; }")
        result = self.good("compile", "t.cu", "-o", "t.ptx", "--instantiate", "twice<float>")
        name = result.stderr.strip().removeprefix("twice<float>: ")
        self.assertIn(f".entry {name}(".encode(), self.read("t.ptx"))

    def test_errors_in_the_source(self):
        self.write("bad.cu", "__global__ void k() {\n  x = 1;\n  y = 2;\n}")
        message = self.bad(1, "compile", "bad.cu")
        self.assertIn("bad.cu(2): error", message)
        self.assertIn("bad.cu(3): error", message)
        self.assertIn("'bad.cu' does not compile", message)
        self.assertFalse(os.path.exists(self.path("bad.ptx")))

    def test_warnings_go_to_standard_error(self):
        self.write("warn.cu", "__global__ void k() { int never_used; }")
        result = self.good("compile", "warn.cu", "-o", "-")
        self.assertIn("never_used", result.stderr)
        self.assertNotIn("warning", result.stdout)

    def test_files(self):
        self.assertIn("'none.cu': No such file", self.bad(1, "compile", "none.cu"))
        self.assertIn("'.': it is a folder", self.bad(1, "compile", "scale.cu", "-o", "."))
        self.assertIn("no new file can be made in 'none'",
                      self.bad(1, "compile", "scale.cu", "-o", "none/out.ptx"))
        self.assertIn("No space left", self.bad(1, "compile", "scale.cu", "-o", "/dev/full"))

    def test_missing_nvrtc(self):
        message = self.bad(1, "compile", "scale.cu", env={"KM_NVRTC": "/nowhere/libnvrtc.so"})
        self.assertIn("/nowhere/libnvrtc.so", message)
        self.assertIn("kernelmill setup", message)


if __name__ == "__main__":
    unittest.main()
