"""docs/guide/mistakes.md: each mistake of the page is made, and gets the message of the page."""

import os
import shlex
import shutil
import subprocess
import sys
import unittest

from tool import SCALE, SOURCE_DIR, TOOL, Case, npy

sys.path.insert(0, os.path.join(SOURCE_DIR, "tests/support"))
from mistakes import mistakes  # noqa: E402

PROGRAM = """
#include <kernelmill/c_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char source[] =
    "extern \\"C\\" __global__ void scale(float* x, float factor, int n) {"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= factor; }";
static km_device device;
static km_context context, other;
static km_stream stream;
static km_module module;
static km_function scale;
static km_slice x;

static void need(km_status status) {
  char text[4096];
  if (status == KM_SUCCESS) return;
  km_last_error_message(text, sizeof text, NULL);
  fprintf(stderr, "%%s\\n", text);
  exit(1);
}

%s
int main(void) {
  need(km_device_open("cpu", &device));
  need(km_context_create(device, &context));
  need(km_context_create(device, &other));
  need(km_stream_create(context, KM_STREAM_DEFAULT, 0, &stream));
  need(km_module_load_source(context, source, sizeof source - 1, "scale.cu", &module));
  need(km_module_function(module, "scale", &scale));
  need(km_slice_create(context, 1024, 4, KM_SLICE_DEFAULT, &x));
%s  return 0;
}
"""
SNIPPET = """static void mistake_%s(void) {
  km_launch launch;
  char text[4096];
  need(km_launch_create(stream, scale, &launch));
  %s
  km_last_error_message(text, sizeof text, NULL);
  printf("%s %%s\\n", text);
  need(km_launch_destroy(launch));
}
"""


class Mistakes(Case):
    def setUp(self):
        super().setUp()
        found = mistakes()
        self.assertEqual([mistake.number for mistake in found], list(range(1, len(found) + 1)))
        self.assertGreaterEqual(len(found), 30)
        self.mistakes = {}
        for mistake in found:
            self.mistakes.setdefault(mistake.language, []).append(mistake)

    def test_every_language_has_some(self):
        """Those of the bindings are made by tests/bindings/mistakes.py."""
        self.assertEqual(set(self.mistakes), {"sh", "c", "cpp", "rust", "go", "zig"})

    def test_of_the_command(self):
        self.write("scale.cu", SCALE)
        self.write("x.npy", npy("f32", [1024], range(1024)))
        self.write("z.npy", npy("f32", [2], [1, 2]).replace(b"<f4", b"<c8"))
        self.write("fill.cu", "template <class T> __global__ void fill(T* out, T value) {}")
        self.write("wild.cu", 'extern "C" __global__ void wild(float* out, int n) '
                              "{ out[threadIdx.x + n] = 1; }")
        self.write("main.cu", "__global__ void hello() {}\n"
                              "int main() { hello<<<1, 32>>>(); return 0; }\n")
        self.write("header.cu", '#include "helper.cuh"\n__global__ void k() {}\n')
        for mistake in self.mistakes["sh"]:
            words = shlex.split(mistake.code)
            at = words.index("kernelmill")
            variables = dict(word.split("=", 1) for word in words[:at])
            result = self.run_tool(*words[at + 1:], env=variables)
            self.assert_says(mistake, result.stderr.strip())

    def assert_says(self, mistake, said):
        self.assertTrue(mistake.pattern.fullmatch(said), f"{mistake}: {said}")

    def test_of_the_c_api(self):
        compiler = shutil.which("cc")
        if compiler is None:
            self.skipTest("there is no C compiler")
        snippets = "".join(SNIPPET % (mistake.number, mistake.code.replace("\n", "\n  "),
                                      mistake.number) for mistake in self.mistakes["c"])
        calls = "".join(f"  mistake_{mistake.number}();\n" for mistake in self.mistakes["c"])
        self.write("mistakes.c", PROGRAM % (snippets, calls))
        library = os.path.join(os.path.dirname(os.path.dirname(TOOL)), "lib")
        subprocess.run([compiler, "mistakes.c", f"-I{SOURCE_DIR}/include", f"-L{library}",
                        "-lkernelmill", f"-Wl,-rpath,{library}", "-o", "mistakes"],
                       cwd=self.folder, check=True, timeout=120)
        done = subprocess.run([self.path("mistakes")], capture_output=True, text=True, timeout=120,
                              check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        said = dict(line.split(" ", 1) for line in done.stdout.splitlines())
        for mistake in self.mistakes["c"]:
            self.assert_says(mistake, said[str(mistake.number)])


if __name__ == "__main__":
    unittest.main()
