"""kernelmill compile."""

import os
import unittest

from tool import SCALE, Case


USES_HEADERS = """
static_assert(std::is_same<std::remove_cvref_t<const int&>, int>::value, "");
static_assert(std::is_pointer<const int* const>::value && !std::is_pointer<int>::value, "");
static_assert(std::is_unsigned<unsigned char>::value && !std::is_signed<int*>::value, "");
static_assert(std::is_same<std::decay_t<int[3]>, int*>::value, "");
static_assert(std::is_same<std::make_unsigned_t<long>, unsigned long>::value, "");
static_assert(std::numeric_limits<int>::max() == INT_MAX, "");
static_assert(std::numeric_limits<long long>::digits10 == 18, "");
static_assert(std::numeric_limits<float>::digits10 == FLT_DIG, "");
static_assert(std::make_index_sequence<4>::size() == 4 && offsetof(int4, y) == 4, "");
static_assert(sizeof(std::uint64_t) == 8 && UINT64_MAX == UINT64_C(18446744073709551615), "");
extern "C" __global__ void all(float* p, std::int64_t n, uint32_t* q) {
  assert(p);
  printf("%" PRIu64, uint64_t(4));
  q[0] = strlen("abc") + std::memcmp("ab", "ac", 2);
  p[0] = std::sin(p[1]) + std::pow(p[2], 2.f) + sinf(p[4]) + INFINITY + M_PI + std::abs(p[2]);
  std::swap(p[0], p[1]);
  p[2] = std::make_pair(1, 2.f).second + std::max(p[1], p[2]);
  std::array<int, 3> values{1, 2, 3};
  p[3] = values[n];
  if (std::isnan(p[0])) abort();
  p[4] = std::sqrt(n) + std::pow(2, n) + std::fmod(p[0], 3.0);
}
using namespace std;
extern "C" __global__ void unqualified(float* p, int n) {
  p[0] = sqrt(p[1]) + pow(p[2], 2.f) + isnan(p[3]) + sqrt(n) + min(p[0], p[1]) + abs(p[2]);
}
"""


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

    def test_headers_of_c_and_cpp_that_nvrtc_lacks(self):
        names = ("assert.h", "float.h", "inttypes.h", "limits.h", "math.h", "stdbool.h", "stddef.h",
                 "stdint.h", "stdio.h", "stdlib.h", "string.h", "time.h", "algorithm", "array",
                 "cassert", "cfloat", "cinttypes", "climits", "cmath", "cstddef", "cstdint",
                 "cstdio", "cstdlib", "cstring", "ctime", "limits", "type_traits", "utility")
        includes = [f"#include <{name}>\n" for name in names]
        self.write("back.cu", "".join(reversed(includes)) + USES_HEADERS)
        self.good("compile", "back.cu", "-o", "-")
        self.write("all.cu", "".join(includes) + USES_HEADERS)
        for standard in ("14", "17", "20"):
            ptx = self.good("compile", "all.cu", "-o", "-", f"--nvrtc=-std=c++{standard}").stdout
            self.assertIn(".entry all(", ptx)
        self.write("nvidia.cu", "#include <cuda_fp16.h>\n#include <cuda/std/cstdint>\n"
                   "#include <cuda/std/climits>\n" + self.read("all.cu").decode())
        self.good("compile", "nvidia.cu", "-o", "-")

    def test_a_header_of_the_users_own_comes_first(self):
        self.write("stdint.h", "#define OWN 1\n")
        self.write("k.cu", "#include <stdint.h>\n#include <cmath>\nstatic_assert(OWN);")
        self.good("compile", "k.cu", "-o", "-")

    def test_other_missing_headers_are_reported(self):
        self.write("k.cu", "#include <vector>\n")
        self.assertIn('"vector"', self.bad(1, "compile", "k.cu", "-o", "-"))

    def test_a_whole_program_gets_advice(self):
        self.write("p.cu", "#include <cstdio>\n__global__ void k() {}\n"
                   "int main() { k<<<1, 1>>>(); }")
        message = self.bad(1, "compile", "p.cu", "-o", "-")
        self.assertIn("the file is a whole program", message)
        self.assertIn("kernelmill exec", message)

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
