"""kernelmill tune: chooses, says why not, remembers."""

import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from tool import Case, npy  # noqa: E402

WORK = """
#ifndef WORK
#define WORK 1
#endif
extern "C" __global__ void work(float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (WORK < 0) __trap();
  volatile float sum = 0;
  for (int k = 0; k < WORK * 2000; ++k) sum = sum + 1.0f;
  if (i < n) out[i] = i + (sum < 0) + (WORK == 2);
}
"""


class Tune(Case):
    def setUp(self):
        super().setUp()
        self.write("work.cu", WORK)
        self.words = ["tune", "work.cu", "-k", "work", "-t", "1000", "--arg", "print:f32[1000]",
                      "--arg", "i32:1000", "--budget", "50", "-d", "cpu"]

    def results(self, *more, **options):
        return json.loads(self.good(*self.words, "--json", *more, **options).stdout)

    def test_the_fastest_is_marked(self):
        found = self.results("-b", "64", "-b", "128", "--vary", "WORK=100,1")
        self.assertEqual([each["candidate"] for each in found],
                         ["64 WORK=100", "64 WORK=1", "128 WORK=100", "128 WORK=1"])
        best = [each for each in found if each["best"]]
        self.assertEqual(len(best), 1)
        self.assertTrue(best[0]["candidate"].endswith("WORK=1"))
        self.assertGreaterEqual(best[0]["samples"], 1)
        self.assertFalse(any(each["no_difference"] for each in found
                             if each["candidate"].endswith("WORK=100")))

    def test_it_says_how_long_it_took(self):
        self.assertRegex(self.good(*self.words, "-b", "64").stderr,
                         r"compiled and tried in \d+\.\d s, measured for \d+\.\d s\n\Z")

    def test_results_stand_alone_where_kernels_print(self):
        self.write("say.cu", '#include <stdio.h>\nextern "C" __global__ void say() '
                             '{ printf("thread %d\\n", threadIdx.x); }')
        result = self.good("tune", "say.cu", "-k", "say", "-t", "2", "-b", "1", "-b", "2",
                           "--budget", "20", "-d", "cpu", "--json")
        self.assertEqual(len(json.loads(result.stdout)), 2)
        self.assertIn("thread 1\n", result.stderr)

    def test_what_is_left_out_says_why(self):
        text = self.good(*self.words, "-b", "64", "-b", "4096", "--vary", "WORK=1,2,-1",
                         "--check").stdout
        lines = text.splitlines()
        self.assertRegex(lines[0], r"^  candidate +median us +fastest us +launches$")
        self.assertTrue(lines[1].startswith("* 64 WORK=1"), text)
        self.assertIn("differs from what candidate 0 left", lines[2])
        self.assertIn("trap", lines[3])
        self.assertIn("4096", lines[4])

    def test_a_choice_is_remembered(self):
        env = {"KM_CACHE_DIR": self.path("cache")}
        words = ["-b", "32", "-b", "64", "--problem", "thousand"]
        first = self.results(*words, env=env)
        second = self.results(*words, env=env)
        third = self.results(*words, "--again", env=env)
        self.assertTrue(all(each["measured"] for each in first + third))
        self.assertFalse(any(each["measured"] for each in second))
        self.assertEqual([each["best"] for each in first], [each["best"] for each in second])

    def test_mistakes(self):
        self.write("x.npy", npy("f32", [1], [1]))
        for words in (["--vary", "WORK"], ["--vary", "=1"], ["-b", "0"], ["-b", "64", "-t", "x"]):
            self.bad(2, *self.words, "-b", "32", *words)
        self.bad(2, "tune", "x.npy", "-k", "work", "-t", "1", "-b", "1")
        self.assertIn("argument 1, 'f32:1000': parameter 1 of kernel 'work' is an integer",
                      self.bad(2, "tune", "work.cu", "-k", "work", "-t", "1000", "-b", "64", "-d",
                               "cpu", "--arg", "print:f32[1000]", "--arg", "f32:1000"))
        self.assertIn("none of 1 candidate works",
                      self.bad(1, *self.words, "-b", "64", "-D", "WORK=-1"))


if __name__ == "__main__":
    unittest.main()
