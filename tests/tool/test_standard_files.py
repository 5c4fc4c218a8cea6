"""Standard files that are closed, full, or read by nobody: what is not written is a failure."""

import json
import subprocess
import unittest

from tool import TOOL, Case, npy

SAY = """
#include <stdio.h>
extern "C" __global__ void say(int* out) {
  printf("thread %d\\n", threadIdx.x);
  out[threadIdx.x] = 7;
}
"""


class StandardFiles(Case):
    def setUp(self):
        super().setUp()
        self.write("say.cu", SAY)
        self.write("x.npy", npy("f32", [4], range(4)))

    def run_with(self, redirections, *words):
        """Runs the command by a shell that redirects its standard files."""
        return subprocess.run(["sh", "-c", f'"$@" {redirections}', "sh", TOOL, *words],
                              cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=120, check=False)

    def printing(self):
        """A run of each command that prints its result on standard output."""
        run = ("run", "say.cu", "-d", "cpu", "-b", "2", "--arg", "print:i32[2]")
        return {
            "info": ("info",), "info --json": ("info", "--json"), "info --env": ("info", "--env"),
            "run": run, "run --json": (*run, "--json"),
            "run out:-": ("run", "say.cu", "-d", "cpu", "--arg", "out:-:i32[2]"),
            "kernels": ("kernels", "say.cu"), "kernels --json": ("kernels", "say.cu", "--json"),
            "compile": ("compile", "say.cu", "-o", "-"),
            "corpus": ("corpus", "."), "corpus --json": ("corpus", ".", "--json"),
            "tune": ("tune", "say.cu", "-k", "say", "-t", "2", "-b", "2", "-d", "cpu", "--budget",
                     "1", "--arg", "zeros:i32[2]"),
            "wrap": ("wrap", "say.cu", "--lang", "c"),
            "setup --list": ("setup", "--list"), "setup --offline": ("setup", "--offline"),
            "help": ("help",), "help run": ("help", "run"), "--help": ("--help",),
            "--version": ("--version",),
        }

    def test_a_closed_standard_output_is_a_failure(self):
        for name, words in self.printing().items():
            result = self.run_with(">&-", *words)
            self.assertEqual(result.returncode, 1, name)
            self.assertIn("cannot write to standard output", result.stderr, name)

    def test_a_full_disk_is_a_failure(self):
        for name, words in self.printing().items():
            result = self.run_with(">/dev/full", *words)
            self.assertEqual(result.returncode, 1, name)
            self.assertIn("standard output", result.stderr, name)

    def test_no_file_gets_the_number_of_a_closed_one(self):
        for redirections in (">&-", "2>&-", "<&-", "<&- >&- 2>&-"):
            self.run_with(redirections, "run", "say.cu", "-d", "cpu", "--arg", "out:y.npy:i32[1]")
            self.assertNotIn(b"thread", self.read("y.npy"))
            self.assertEqual(self.read("y.npy")[:6], b"\x93NUMPY")
            self.run_with(redirections, "compile", "say.cu", "-o", "say.ptx")
            self.assertIn(b".version", self.read("say.ptx"))

    def test_what_needs_no_standard_output_works_without(self):
        self.assertEqual(self.run_with(">&-", "compile", "say.cu", "-o", "say.ptx").returncode, 0)
        self.assertEqual(self.run_with("<&-", "info").returncode, 0)

    def test_kernels_text_stays_out_of_a_result(self):
        for redirections in ("", "2>&-", "2>/dev/full"):
            result = self.run_with(redirections, *self.printing()["run --json"])
            self.assertEqual(result.returncode, 0, redirections)
            self.assertEqual(json.loads(result.stdout)["outputs"][0]["values"], [7, 7])

    def test_programs_get_what_the_command_has(self):
        for words in (("exec", "--"), ("trace", "-o", "t.json", "--")):
            result = self.run_with(">&-", *words, "sh", "-c", "echo text || exit 9")
            self.assertEqual(result.returncode, 9, result.stderr)
            result = self.run_with("", *words, "sh", "-c", "echo text")
            self.assertEqual(result.stdout, "text\n")


if __name__ == "__main__":
    unittest.main()
