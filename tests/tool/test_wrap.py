"""kernelmill wrap: what it says and refuses. tests/wrap compiles what it writes."""

import unittest

from tool import SCALE, Case

TEMPLATE = "template <class T> __global__ void twice(T* x) { x[threadIdx.x] *= 2; }"


class Wrap(Case):
    def setUp(self):
        super().setUp()
        self.write("scale.cu", SCALE)

    def test_says_how_it_was_made(self):
        text = self.good("wrap", "scale.cu", "--lang", "c").stdout
        self.assertIn("Made by `kernelmill wrap scale.cu --lang c`", text)
        self.assertIn("scale(const float* in, float* out, float factor, int n)", text)

    def test_the_same_source_gives_the_same_wrapper(self):
        for language in ("c", "cpp", "rust", "go", "zig"):
            self.good("wrap", "scale.cu", "--lang", language, "-o", "one")
            self.good("wrap", "scale.cu", "--lang", language, "-o", "two")
            self.assertEqual(self.read("one"), self.read("two"), language)

    def test_ptx_has_the_types_in_it(self):
        self.good("compile", "scale.cu", "-o", "scale.ptx")
        text = self.good("wrap", "scale.ptx", "--lang", "rust").stdout
        self.assertIn("p0: &kernelmill::Slice<f32>", text)
        self.assertIn("p1: &mut kernelmill::Slice<f32>", text)

    def test_instances_of_templates(self):
        self.write("twice.cu", TEMPLATE)
        text = self.good("wrap", "twice.cu", "--lang", "zig", "--instantiate",
                         "twice<double>").stdout
        self.assertIn("launchTwiceDouble", text)
        self.assertIn("x: km.Slice(f64)", text)

    def test_a_file_may_be_called_as_a_keyword(self):
        self.write("class.cu", SCALE)
        self.assertIn("class_cu_scale(", self.good("wrap", "class.cu", "--lang", "c").stdout)

    def test_a_file_without_kernels_is_an_error(self):
        self.write("none.cu", "__device__ int x;")
        self.assertIn("has no kernels to wrap", self.bad(1, "wrap", "none.cu", "--lang", "c"))

    def test_names_that_cannot_be_are_refused(self):
        for name in ("a-b", "1x", "class"):
            words = ("wrap", "scale.cu", "--lang", "c", "--name", name)
            self.assertIn("cannot be the name", self.bad(2, *words))
        self.assertIn("--lang", self.bad(2, "wrap", "scale.cu"))


if __name__ == "__main__":
    unittest.main()
