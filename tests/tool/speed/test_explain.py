"""kernelmill explain: what becomes of a kernel's lines, and the advice."""

import json
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from tool import Case  # noqa: E402

SOURCE = """struct Point { float x, y, z, w; };
extern "C" __global__ void apart(const Point* points, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = points[i].x;
}
extern "C" __global__ void parted(const int* count, const float* in, float* out, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int row = i / width;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < count[i]; ++k) {
    sum += in[row + 32 * k];
  }
  if (sum > 1) out[i] = sqrtf(sum) * 2;
  else out[i] = sum * sum - in[0];
}
extern "C" __global__ void met(float* data, unsigned* bins) {
  __shared__ float tile[256];
  tile[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = tile[255 - threadIdx.x];
  data[threadIdx.x] += atomicAdd(&bins[threadIdx.x % 3], 1);
}
template <class T> __global__ void fill(T* out, T value) { out[threadIdx.x] = value; }
"""

RARE = """extern "C" __global__ void rare(float* data, int n) {
  float x = data[threadIdx.x];
  if (n == 7) {
#pragma unroll 1
    for (int k = 0; k < n; ++k) x = sqrtf(x) / n + sqrtf(x + n);
  }
#pragma unroll 1
  for (int k = 0; k < n; ++k) x = x * 0.5f + 1;
  data[threadIdx.x] = x;
}
"""

LONELY = """.version 8.0
.target sm_80
.address_size 64
.visible .entry lonely(.param .u64 p)
{
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd0, [p];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd1, %r0, 8;
  add.u64 %rd0, %rd0, %rd1;
  st.global.b32 [%rd0], %r0;
  ret;
}
"""


class Explain(Case):
    def setUp(self):
        super().setUp()
        self.write("k.cu", SOURCE)

    def kernels(self, *arguments):
        kernels = json.loads(self.good("explain", "k.cu", "--json", *arguments).stdout)["kernels"]
        return {kernel["kernel"]: kernel for kernel in kernels}

    @staticmethod
    def kinds(kernel, line):
        found = [entry for entry in kernel["lines"] if entry["line"] == line]
        return {note["kind"] for entry in found for note in entry["notes"]}

    def test_lines(self):
        kernels = self.kernels()
        self.assertEqual(set(kernels), {"apart", "parted", "met"})
        apart, parted, met = kernels["apart"], kernels["parted"], kernels["met"]
        self.assertEqual(self.kinds(apart, 4), {"edge"})
        self.assertEqual(self.kinds(apart, 5), {"strided", "contiguous"})
        self.assertIn("division", self.kinds(parted, 9))
        self.assertIn("loop", self.kinds(parted, 12))
        self.assertIn("gathered", self.kinds(parted, 13))
        self.assertIn("branch", self.kinds(parted, 15))
        self.assertIn("barrier", self.kinds(met, 21))
        self.assertIn("atomic", self.kinds(met, 23))
        for kernel in kernels.values():
            self.assertEqual(kernel["mode"], "a")
            self.assertAlmostEqual(sum(line["share"] for line in kernel["lines"]), 1, 5)
        costly = max(parted["lines"], key=lambda line: line["share"])
        self.assertIn(costly["line"], (12, 13), "the loop's lines count most")

    def test_advice(self):
        kernels = self.kernels()
        self.assertEqual(kernels["apart"]["advice"][0]["place"], "k.cu:5")
        self.assertIn("array of structs", kernels["apart"]["advice"][0]["text"])
        for kernel in kernels.values():
            said = [(one["place"], one["text"]) for one in kernel["advice"]]
            self.assertEqual(len(said), len(set(said)), "each advice once")
        text = self.good("explain", "k.cu", "--kernel", "met").stdout
        self.assertRegex(text, r"(?m)^met: warps run to completion, \d+ threads at a time$")
        self.assertRegex(text, r"(?m)^ *\d+ %      23    data\[threadIdx.x\] \+= atomicAdd")
        self.assertRegex(text, r"What to try first\n  k.cu:23 \(\d+ %\): threads take turns")
        self.assertNotIn("==== ", text)

    def test_instances_and_modes(self):
        fill = self.good("explain", "k.cu", "-k", "fill<double>", "--block", "64").stdout
        self.assertIn("fill<double>: ", fill)
        self.assertIn("Nothing stands out.", fill)
        modes = json.loads(self.good("explain", "k.cu", "-k", "met", "--json",
                                     env={"KM_CPU_MODE": "c"}).stdout)["kernels"][0]
        self.assertEqual(modes["mode"], "c")
        self.assertEqual(modes["advice"][0]["place"], "the kernel")

    def test_samples_of_a_run(self):
        self.write("rare.cu", RARE)

        def shares(*arguments):
            said = self.good("explain", "rare.cu", "--block", "64", "--json", *arguments).stdout
            kernel = json.loads(said)["kernels"][0]
            return kernel, {line["line"]: line["share"] for line in kernel["lines"]}

        estimated, estimates = shares()
        self.assertEqual(estimated["samples"], 0)
        self.assertGreater(estimates[5], 0.5)
        run = ("--arg", "zeros:f32[64]", "--arg", "i32:1000000")
        sampled, samples = shares(*run)
        self.assertGreater(sampled["samples"], 20)
        self.assertGreater(samples[8], 0.5)
        self.assertLess(samples.get(5, 0), 0.1)
        total = sum(samples.values()) + sampled["engine_samples"] / sampled["samples"]
        self.assertAlmostEqual(total, 1, 5)
        text = self.good("explain", "rare.cu", "--block", "64", *run).stdout
        self.assertRegex(text, r"(?m)^shares by \d+ samples while it ran$")
        self.assertRegex(text, r"(?m)^ *\d+ %       8    for ")

    def test_lines_in_the_report_of_a_trace(self):
        self.write("rare.cu", RARE)
        run = (os.environ["TEST_TOOL"], "run", "rare.cu", "--device", "cpu", "--grid", "20000",
               "--block", "64", "--arg", "zeros:f32[64]", "--arg", "i32:1000", "-q")
        self.good("trace", "--lines", "-o", "t.html", "--", *run)
        page = self.read("t.html").decode()
        kernel = page[page.index("<h2>Lines of kernels"):]
        self.assertIn("<h3>rare</h3>", kernel)
        self.assertRegex(kernel, r"Shares are of \d+ samples")
        hot = re.search(r"<tr><td>8</td><td>(.*?)</td><td class=\"hot\">(\d+) %", kernel)
        self.assertIsNotNone(hot, kernel)
        self.assertTrue(hot[1].startswith("  for (int k = 0; k &lt; n; ++k) x = x * 0.5f"), hot[1])
        self.assertGreater(int(hot[2]), 50)
        self.assertNotIn("class=\"hot\"", kernel[:kernel.index("<td>8</td>")])
        self.assertEqual(page.count("</style>"), 1)
        self.assertEqual(sorted(os.listdir(self.folder)), ["k.cu", "rare.cu", "t.html"])

    def test_lines_need_a_report(self):
        message = self.bad(2, "trace", "--lines", "-o", "t.json", "--", "true")
        self.assertIn("ends in .html", message)
        result = self.run_tool("trace", "--lines", "-o", "t.html", "--", "sh", "-c", "exit 3")
        self.assertEqual(result.returncode, 3)
        self.assertIn("nothing was recorded", result.stderr)

    def test_dumps_into_a_file(self):
        self.write("rare.cu", RARE)
        words = ("run", "rare.cu", "--device", "cpu", "--block", "64", "--arg", "zeros:f32[64]",
                 "--arg", "i32:1", "-q")
        self.write("dump.txt", "before\n")
        result = self.good(*words, env={"KM_DUMP": "lines", "KM_DUMP_FILE": self.path("dump.txt")})
        self.assertEqual(result.stderr, "")
        self.assertTrue(self.read("dump.txt").startswith(b"before\n==== lines of rare\nplan\ta\t"))
        result = self.good(*words, env={"KM_DUMP": "lines", "KM_DUMP_FILE": "/nowhere/dump.txt"})
        self.assertIn("KM_DUMP_FILE: cannot write '/nowhere/dump.txt'", result.stderr)
        self.assertIn("==== lines of rare", result.stderr)

    def test_mistakes_of_a_run(self):
        self.write("rare.cu", RARE)
        run = ("explain", "rare.cu", "--block", "64", "--arg", "zeros:f32[64]")
        self.assertIn("takes 2 arguments, but 1 was given", self.bad(2, *run))
        self.assertIn("--grid", self.bad(2, *run, "--arg", "i32:1", "--grid", "0"))

    def test_ptx(self):
        self.write("lonely.ptx", LONELY)
        text = self.good("explain", "lonely.ptx").stdout
        self.assertRegex(text, r"(?m)12    st.global.b32 \[%rd0\], %r0;\n"
                               r" +\| store to global memory: 8 bytes from thread to thread$")
        self.assertIn("PTX line 12", text)

    def test_mistakes(self):
        self.assertIn("no kernel 'mett'", self.bad(2, "explain", "k.cu", "-k", "mett"))
        self.assertIn("2000", self.bad(1, "explain", "k.cu", "--block", "2000"))
        self.write("broken.cu", "__global__ void f() { undeclared = 1; }\n")
        self.assertIn("undeclared", self.bad(1, "explain", "broken.cu"))
        self.write("none.cu", "template <class T> __global__ void f(T* out) { *out = 1; }\n")
        self.assertIn("'none.cu' has no kernels", self.bad(1, "explain", "none.cu"))

    def test_kernels_for_other_blocks(self):
        fixed = LONELY.replace("lonely(.param .u64 p)", "lonely(.param .u64 p) .reqntid 32, 2, 1")
        free = LONELY.replace("lonely", "free")
        self.write("two.ptx", fixed + free[free.index(".visible"):])
        result = self.good("explain", "two.ptx")
        self.assertIn("requires blocks of 32x2x1", result.stderr)
        self.assertTrue(result.stdout.startswith("free: "))
        result = self.good("explain", "two.ptx", "--block", "32,2")
        self.assertEqual(result.stderr, "")
        self.assertIn("\nlonely: ", "\n" + result.stdout)

    def test_refused_kernels(self):
        self.write("two.ptx", LONELY + """
.visible .entry picture(.param .u64 texture)
{
  .reg .b64 %rd;
  .reg .f32 %f<7>;
  ld.param.u64 %rd, [texture];
  tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd, {%f5, %f6}], %f5;
  ret;
}
""")
        result = self.good("explain", "two.ptx")
        self.assertIn("in 'picture' is not supported by the cpu backend", result.stderr)
        self.assertTrue(result.stdout.startswith("lonely: "))


if __name__ == "__main__":
    unittest.main()
