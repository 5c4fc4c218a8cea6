"""kernelmill kernels: what a file has to launch."""

import json
import shutil
import subprocess
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


SHADER = """
extern "C" __global__ void least(const int* in, short* out, int* all, int n) {
  extern __shared__ int kept[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  kept[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  if (i < n) out[i] = (short)kept[blockDim.x - 1 - threadIdx.x] >> 1;
  if (i < n) atomicMin(all, in[i]);
}
extern "C" __global__ void halves(double* x) { x[threadIdx.x] *= 0.5; }
"""


class Shaders(Case):
    """kernels --emit."""

    def setUp(self):
        super().setUp()
        self.write("k.cu", SCALE + SHADER)
        self.write("scale.cu", SCALE)

    def emit(self, language, kernel, *more):
        name = f"{kernel}.{language}"
        words = ("kernels", "k.cu", "--emit", language, "--kernel", kernel, "-o", name, *more)
        if self.run_tool("kernels", "scale.cu", "--emit", "glsl", "-b", "1").returncode != 0:
            self.skipTest("there is no SPIRV-Cross (libspirv-cross-c-shared0)")
        self.good(*words)
        return name

    def judge(self, program, *words):
        """Lets another program judge a file, if it is there."""
        path = shutil.which(program)
        if path is None:
            self.skipTest(f"there is no {program}")
        done = subprocess.run([path, *words], cwd=self.folder, capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_spirv(self):
        for arena in ((), ("--arena",)):
            for block in ((), ("--block", "64", "--shared", "256")):
                self.good("kernels", "k.cu", "--emit", "spirv", "--kernel", "least", "-o",
                          "least.spv", *block, *arena)
                self.judge("spirv-val", "--target-env", "vulkan1.2", "least.spv")

    def test_glsl(self):
        name = self.emit("glsl", "scale", "--block", "64,2")
        text = self.read(name).decode()
        self.assertTrue(text.startswith("#version 460\n// scale of k.cu, for GLSL, by kernelmill."))
        self.assertIn("local_size_x = 64, local_size_y = 2", text)
        self.assertIn("buffer_reference", text)
        self.judge("glslangValidator", "--target-env", "vulkan1.2", "-S", "comp", name)

    def test_glsl_with_an_arena(self):
        name = self.emit("glsl", "least", "--block", "64", "--shared", "256", "--arena")
        text = self.read(name).decode()
        self.assertNotIn("buffer_reference", text)
        self.assertNotIn("atomicMin", text)  # it would take all numbers for unsigned ones
        self.judge("glslangValidator", "--target-env", "vulkan1.2", "-S", "comp", name)

    def test_msl(self):
        text = self.read(self.emit("msl", "scale", "--block", "64")).decode()
        self.assertIn("kernel void main0", text)
        self.assertIn("device uint*", text)
        text = self.read(self.emit("msl", "least", "--block", "64", "--arena")).decode()
        self.assertIn("atomic_compare_exchange_weak_explicit", text)

    def test_hlsl(self):
        text = self.read(self.emit("hlsl", "least", "--block", "64", "--shared", "256")).decode()
        self.assertIn("[numthreads(64, 1, 1)]", text)
        self.assertIn("InterlockedCompareExchange", text)

    def test_wgsl(self):
        if shutil.which("naga") is None:
            result = self.bad(1, "kernels", "scale.cu", "--emit", "wgsl", "--block", "64")
            self.assertIn("cargo install naga-cli", result)
            self.skipTest("there is no naga")
        for kernel in ("scale", "least"):
            name = self.emit("wgsl", kernel, "--block", "64", "--shared", "256")
            self.assertIn("@workgroup_size(64, 1, 1)", self.read(name).decode())
            self.judge("naga", name)

    def test_blocks_that_there_are_not(self):
        for block in ("1025", "32,33", "2,2,4294967295", "65536,65536", "0", "x"):
            self.assertIn("--block", self.bad(2, "kernels", "k.cu", "--emit", "msl", "-b", block))

    def test_what_languages_lack(self):
        def refused(*words):
            return self.bad(1, "kernels", "k.cu", "--block", "64", *words)
        self.assertIn("'mul.f64' is not supported on 'Metal'",
                      refused("--emit", "msl", "--kernel", "halves"))
        self.assertIn("'mul.f64' is not supported on 'WGSL'",
                      refused("--emit", "wgsl", "--kernel", "halves"))
        self.assertRegex(refused("--emit", "glsl", "--kernel", "least"),
                         "'atom.global.min.s32' is not supported on 'GLSL': .* need an arena")
        self.assertRegex(refused("--emit", "essl", "--kernel", "scale"),
                         "cannot run on 'GLSL ES': .*64-bit integers")

    def test_a_library_that_is_not_there(self):
        result = self.run_tool("kernels", "scale.cu", "--emit", "msl", "--block", "64",
                               env={"KM_SPIRV_CROSS": "/nowhere/libspirv-cross.so"})
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, "'scale' as Metal: SPIRV-Cross.*correct KM_SPIRV_CROSS")

    def test_mistakes(self):
        self.assertIn("--block 256", self.bad(2, "kernels", "scale.cu", "--emit", "glsl"))
        self.assertIn("Its kernels are", self.bad(2, "kernels", "k.cu", "--emit", "spirv", "-o",
                                                  "x.spv"))
        self.assertIn("has no kernel 'sale'", self.bad(2, "kernels", "k.cu", "--emit", "spirv",
                                                       "--kernel", "sale", "-o", "x.spv"))
        self.assertIn("glsl", self.bad(2, "kernels", "scale.cu", "--emit", "cobol"))
        self.bad(2, "kernels", "scale.cu", "--arena")
        self.good("compile", "scale.cu", "--target", "cpu", "-o", "k.kmo")
        self.assertIn("object code has neither", self.bad(2, "kernels", "k.kmo", "--emit", "msl"))


if __name__ == "__main__":
    unittest.main()
