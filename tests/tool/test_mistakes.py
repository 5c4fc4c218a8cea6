"""docs/guide/mistakes.md: each mistake of the page is made, and gets the message of the page."""

import os
import re
import shlex
import shutil
import subprocess
import unittest

from tool import SCALE, SOURCE_DIR, TOOL, Case, npy

PAGE = "docs/guide/mistakes.md"
MISTAKE = re.compile(r"^### (\d+)\. (.*?)\n(.*?)```(\w+)\n(.*?)```\n\n```text\n(.*?)```\n",
                     re.M | re.S)
# The binding that says what a mistake in its language gets.
SOURCES = {"cpp": "include/kernelmill/cpp", "rust": "bindings/rust",
           "go": "bindings/go/kernelmill", "zig": "bindings/zig/src"}
LEAST_PIECE = 8  # letters of a text that is looked for in sources

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


def text_of(path):
    with open(os.path.join(SOURCE_DIR, path), encoding="utf-8") as file:
        return file.read()


def pattern(message):
    """A regular expression for a message in which "..." is any text."""
    return ".*?".join(re.escape(part) for part in message.split("..."))


class Mistakes(Case):
    def setUp(self):
        super().setUp()
        found = [match.groups() for match in MISTAKE.finditer(text_of(PAGE))]
        self.assertEqual([int(number) for number, *_ in found], list(range(1, len(found) + 1)))
        self.assertGreaterEqual(len(found), 30)
        self.mistakes = {language: [] for language in ("sh", "c", *SOURCES)}
        for number, title, _, language, code, message in found:
            self.mistakes[language].append((number, title, code.strip(), message.strip()))

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
        for number, title, code, message in self.mistakes["sh"]:
            words = shlex.split(code)
            at = words.index("kernelmill")
            variables = dict(word.split("=", 1) for word in words[:at])
            result = self.run_tool(*words[at + 1:], env=variables)
            self.assertRegex(result.stderr.strip(), re.compile(rf"\A{pattern(message)}\Z", re.S),
                             f"{number}. {title}")

    def test_of_the_c_api(self):
        compiler = shutil.which("cc")
        if compiler is None:
            self.skipTest("there is no C compiler")
        snippets = "".join(SNIPPET % (number, code.replace("\n", "\n  "), number)
                           for number, _, code, _ in self.mistakes["c"])
        calls = "".join(f"  mistake_{number}();\n" for number, *_ in self.mistakes["c"])
        self.write("mistakes.c", PROGRAM % (snippets, calls))
        library = os.path.join(os.path.dirname(os.path.dirname(TOOL)), "lib")
        subprocess.run([compiler, "mistakes.c", f"-I{SOURCE_DIR}/include", f"-L{library}",
                        "-lkernelmill", f"-Wl,-rpath,{library}", "-o", "mistakes"],
                       cwd=self.folder, check=True, timeout=120)
        done = subprocess.run([self.path("mistakes")], capture_output=True, text=True, timeout=120,
                              check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        said = dict(line.split(" ", 1) for line in done.stdout.splitlines())
        for number, title, _, message in self.mistakes["c"]:
            self.assertRegex(said[number], rf"\A{pattern(message)}\Z", f"{number}. {title}")

    def test_of_the_bindings(self):
        for language, folder in SOURCES.items():
            self.assertTrue(self.mistakes[language], language)
            sources = ""
            for place, _, names in os.walk(os.path.join(SOURCE_DIR, folder)):
                sources += "".join(text_of(os.path.join(place, name)) for name in sorted(names)
                                   if name.endswith((".hpp", ".rs", ".go", ".zig")))
            # Texts of Rust go on in the next line after a backslash.
            sources = re.sub(r"\\\n\s*", "", sources)
            for number, title, _, message in self.mistakes[language]:
                for piece in re.split(r"\.\.\.|\b\d+\b|\bscale\b", message):
                    piece = piece.strip()
                    if len(piece) >= LEAST_PIECE:
                        self.assertTrue(piece in sources, f"{number}. {title}: {piece!r}")


if __name__ == "__main__":
    unittest.main()
