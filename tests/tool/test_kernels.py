"""kernelmill kernels: what a file has to launch."""

import json
import unittest
from pathlib import Path

from tool import SCALE, Case

SOURCE = SCALE + """
namespace app { struct Point { float x, y; }; }
__global__ void __launch_bounds__(64) tally(const app::Point* points, unsigned long long* sums) {
  __shared__ float kept[64];
  kept[threadIdx.x] = points[threadIdx.x].x;
  __syncthreads();
  sums[threadIdx.x] = kept[63 - threadIdx.x];
}
template <class T> __global__ void fill(T* out, T value) { out[threadIdx.x] = value; }
"""


class Kernels(Case):
    def setUp(self):
        super().setUp()
        self.write("k.cu", SOURCE)

    def test_of_a_source(self):
        text = self.good("kernels", "k.cu").stdout
        self.assertIn("scale(const float* in, float* out, float factor, int n)\n", text)
        self.assertIn("tally(const app::Point* points, unsigned long long* sums)\n"
                      "    in the PTX _Z5tally", text)
        self.assertRegex(text, r"up to 64 threads per block.*, 256 bytes of shared memory")
        self.assertNotIn("fill", text)

    def test_instances_of_templates(self):
        text = self.good("kernels", "k.cu", "--instantiate", "fill<double>").stdout
        self.assertRegex(text, r"(?m)^fill<double>\(double\* out, double value\)$")

    def test_json(self):
        kernels = json.loads(self.good("kernels", "k.cu", "--json").stdout)
        scale = next(kernel for kernel in kernels if kernel["name"] == "scale")
        self.assertEqual(scale["parameters"][2],
                         {"name": "factor", "type": "float", "size_bytes": 4})
        self.assertEqual(scale["mode"], "run to completion")
        self.assertGreaterEqual(scale["max_threads_per_block"], 1024)

    def test_of_ptx_and_object_code(self):
        self.good("compile", "k.cu", "-o", "k.ptx")
        self.good("compile", "k.cu", "--target", "cpu", "-o", "k.kmo")
        for name in ("k.ptx", "k.kmo"):
            text = self.good("kernels", name).stdout
            self.assertIn("scale(const float*, float*, float, int)\n", text, name)

    def test_of_ptx_of_others(self):
        self.write("k.ptx", ".version 7.0\n.target sm_70\n.address_size 64\n"
                            ".visible .entry k(.param .u64 a, .param .f32 b) { ret; }\n")
        self.assertIn("k(8 bytes, 4 bytes)\n", self.good("kernels", "k.ptx").stdout)

    def test_kernels_that_the_device_refuses(self):
        drivers = sorted(Path("/usr/share/vulkan/icd.d").glob("lvp_icd.*.json"))
        if not drivers:
            self.skipTest("there is no software Vulkan (mesa-vulkan-drivers)")
        self.write("k.ptx", ".version 8.0\n.target sm_90\n.address_size 64\n"
                            ".visible .entry runs() { ret; }\n.visible .entry clustered() {\n"
                            ".reg .b32 %r;\nmov.u32 %r, %cluster_ctarank;\nret;\n}\n")
        env = {"VK_DRIVER_FILES": str(drivers[0]), "VK_ICD_FILENAMES": str(drivers[0])}
        result = self.run_tool("kernels", "k.ptx", "--device", "vulkan:0", "--json", env=env)
        if "KM_ERROR_BACKEND_UNAVAILABLE" in result.stdout:
            self.skipTest("the Vulkan backend is not built")
        runs, clustered = json.loads(result.stdout)
        self.assertNotIn("refusal", runs)
        self.assertIn("special register that a shader lacks", clustered["refusal"])

    def test_files_that_have_none(self):
        self.write("none.cu", "__device__ int x;")
        result = self.good("kernels", "none.cu")
        self.assertEqual(result.stdout, "")
        self.assertIn("'none.cu' has no kernels", result.stderr)
        self.assertIn("expected a FILE.cu", self.bad(2, "kernels", self.write("k.txt", "")))
        self.assertIn("No such file", self.bad(1, "kernels", "nowhere.cu"))


if __name__ == "__main__":
    unittest.main()
