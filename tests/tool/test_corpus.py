"""kernelmill corpus: what a folder of kernels comes to."""

import json
import os
import unittest

from tool import SCALE, Case

REFUSED = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry fetch(.param .u64 texture)
{
  .reg .b64 %rd<2>;
  .reg .f32 %f<6>;
  ld.param.u64 %rd1, [texture];
  mov.f32 %f1, 0f00000000;
  tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, {%f1, %f1}], %f1;
  ret;
}
"""

SPIN = """
extern "C" __global__ void spin(int* lock) {
  while (atomicCAS(lock, 0, 1) != 0) {}
  atomicExch(lock, 0);
}
extern "C" __global__ void __launch_bounds__(64) bounded(int* out) { out[threadIdx.x] = 1; }
"""


class Corpus(Case):
    def setUp(self):
        super().setUp()
        os.makedirs(self.path("kernels/inner"))
        self.write("kernels/scale.cu", SCALE)
        self.write("kernels/inner/spin.cu", SPIN)
        self.write("kernels/inner/fetch.ptx", REFUSED)
        self.write("kernels/broken.cu", "this is not CUDA")
        self.write("kernels/broken.ptx", ".version 7.0\n.target sm_70\n.visible .entry k(\n")
        self.write("kernels/notes.txt", "no kernel")

    def test_summary(self):
        text = self.good("corpus", "kernels").stdout
        self.assertIn("files            5, 4 compiled to PTX, 2 loaded", text)
        self.assertIn("kernels          3, machine code made for 3", text)
        self.assertIn("a: 2", text)
        self.assertIn("c: 1", text)
        self.assertIn("'tex", text)
        self.assertIn("         kernels/inner/fetch.ptx:11:3: 'tex", text)
        self.assertIn("sources that do not compile:", text)
        self.assertIn("         kernels/broken.cu: expected a declaration", text)
        text = self.good("corpus", "kernels", "--verbose").stdout
        self.assertIn("         kernels/broken.ptx:4:1: ", text)

    def test_json(self):
        answer = json.loads(self.good("corpus", "kernels", "--json", "--jobs", "2").stdout)
        summary = answer["summary"]
        self.assertEqual((summary["files"], summary["files_loaded"], summary["kernels_made"]),
                         (5, 2, 3))
        self.assertIn("atom.global.cas.b32", summary["opcode_forms"])
        self.assertGreater(summary["kernel_cpu_ms"]["p50"], 0)
        by_name = {file["file"]: file for file in answer["files"]}
        fetch = by_name["kernels/inner/fetch.ptx"]
        self.assertFalse(fetch["loaded"])
        self.assertIn("fetch.ptx:11", fetch["reason"])
        self.assertIn("tex.2d.v4.f32.f32", fetch["forms"])
        self.assertFalse(by_name["kernels/broken.cu"]["compiled"])
        kernels = {kernel["name"]: kernel for kernel in by_name["kernels/inner/spin.cu"]["kernels"]}
        self.assertEqual(kernels["spin"]["mode"], 3)
        self.assertTrue(kernels["bounded"]["made"])

    def test_folders_without_kernels(self):
        os.mkdir(self.path("empty"))
        self.assertIn("holds no .cu", self.bad(1, "corpus", "empty"))
        self.assertIn("No such file", self.bad(1, "corpus", "nowhere"))


if __name__ == "__main__":
    unittest.main()
