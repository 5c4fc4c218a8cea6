"""Devices opengl:0 ..., by the command, on Mesa's software driver."""

import json
import unittest

from tool import SCALE, Case, npy

STRAY = """
extern "C" __global__ void stray(int* out, long long bytes) {
  out[threadIdx.x] = 1;
  if (threadIdx.x == 3) *(int*)((char*)out + bytes) = 2;
}
"""
SOFTWARE = {"LIBGL_ALWAYS_SOFTWARE": "1"}


class OpenGL(Case):
    def setUp(self):
        super().setUp()
        self.write("scale.cu", SCALE)
        self.write("x.npy", npy("f32", [4096], [i / 7 for i in range(4096)]))

    def scale(self, device, out, **variables):
        return self.run_tool("run", "scale.cu", "--device", device, "--block", "256", "--arg",
                             "in:x.npy", "--arg", f"out:{out}:@0", "--arg", "f32:0.3", "--arg",
                             "i32:@0.count", env={**SOFTWARE, **variables})

    def require_device(self):
        result = self.scale("opengl:0", "first.npy")
        for reason in ("is not installed", "cannot be opened", "has no display", "no OpenGL 4.3"):
            if reason in result.stderr:
                self.skipTest(result.stderr)
        return result

    def test_the_bits_are_those_of_the_cpu(self):
        result = self.require_device()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("opengl:0, ", result.stdout + result.stderr)
        self.assertEqual(self.scale("cpu", "cpu.npy").returncode, 0)
        self.assertEqual(self.read("first.npy"), self.read("cpu.npy"))

    def test_a_stray_access_is_a_fault(self):
        self.require_device()
        self.write("stray.cu", STRAY)
        for distance in (1 << 34, -(1 << 41), 2):
            result = self.run_tool("run", "stray.cu", "--device", "opengl:0", "--block", "32",
                                   "--arg", "out:y.npy:i32[32]", "--arg", f"i64:{distance}",
                                   env=SOFTWARE)
            self.assertEqual(result.returncode, 1, result.stderr)
            word = "misaligned" if distance == 2 else "illegal"
            self.assertRegex(result.stderr, f"{word}.*thread.*3")

    def test_info_shows_it(self):
        self.require_device()
        self.assertRegex(self.run_tool("info", env=SOFTWARE).stdout, r"opengl:0 +\S+")

    def test_auto_never_takes_it(self):
        self.require_device()
        result = self.run_tool("info", "--json", env={**SOFTWARE, "KM_CUDA_DRIVER": "/nowhere"})
        self.assertNotIn("opengl", json.dumps(json.loads(result.stdout).get("auto", "")))

    def test_what_is_missing_is_named(self):
        self.require_device()
        result = self.scale("opengl:0", "y.npy", KM_EGL="/nowhere/libEGL.so")
        self.assertRegex(result.stderr, "EGL cannot be opened.*correct KM_EGL")
        result = self.scale("opengl:0", "y.npy", KM_SPIRV_CROSS="/nowhere/libspirv.so")
        self.assertRegex(result.stderr, "SPIRV-Cross.*correct KM_SPIRV_CROSS")
        result = self.scale("opengl:7", "y.npy")
        self.assertRegex(result.stderr, "there is no device 'opengl:7'")


if __name__ == "__main__":
    unittest.main()
