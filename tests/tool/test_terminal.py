"""Colours and bars of the command, on a terminal and without one."""

import os
import pty
import re
import subprocess
import unittest

from tool import TOOL, Case

SLOW = """
__device__ unsigned long long now_ns() {
  unsigned long long ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}
extern "C" __global__ void slow(unsigned* out, unsigned ms) {
  const unsigned long long end = now_ns() + ms * 1000000ull;
  while (now_ns() < end) {
  }
  out[threadIdx.x] = ms;
}
"""
PRINTS = SLOW.replace("out[threadIdx.x] = ms;",
                      'printf("turn ");\n  printf("%u\\n", ms);\n  out[threadIdx.x] = ms;')


def screen(shown):
    """The lines that a terminal has at last: a line is written over from its beginning."""
    lines, at = [""], 0
    for piece in re.findall(r"\x1b\[K|[^\x1b]", shown):
        if piece == "\x1b[K":
            lines[-1] = lines[-1][:at]
        elif piece == "\r":
            at = 0
        elif piece == "\n":
            lines.append("")
            at = 0
        else:
            lines[-1] = lines[-1][:at] + piece + lines[-1][at + 1:]
            at += 1
    return lines


class Terminal(Case):
    def on_terminal(self, *arguments, **variables):
        """What the command shows on a terminal."""
        ours, theirs = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", **variables}
        environment = {name: value for name, value in environment.items() if value is not None}
        with subprocess.Popen([TOOL, *arguments], cwd=self.folder, env=environment,
                              stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs) as process:
            os.close(theirs)
            shown = b""
            while True:
                try:
                    piece = os.read(ours, 4096)
                except OSError:  # the other end is closed
                    break
                if not piece:
                    break
                shown += piece
            process.wait(timeout=120)
        os.close(ours)
        return shown.decode(errors="replace")

    def test_colours_on_terminals_only(self):
        self.assertIn("\x1b[1mkernelmill ", self.on_terminal("info", NO_COLOR=None))
        self.assertIn("\x1b[1;31mkernelmill:\x1b[0m", self.on_terminal("rnu", NO_COLOR=None))
        for variables in ({"NO_COLOR": "1"}, {"NO_COLOR": None, "TERM": "dumb"}):
            self.assertNotIn("\x1b", self.on_terminal("info", **variables))
        self.assertIn("\x1b[1m", self.on_terminal("info", NO_COLOR=""))  # empty is not set
        self.assertNotIn("\x1b", self.good("info").stdout)

    def test_what_takes_long_has_a_bar(self):
        self.write("slow.cu", SLOW)
        words = ("run", "slow.cu", "--device", "cpu", "--quiet", "--arg", "print:u32[1]", "--arg")
        shown = self.on_terminal(*words, "u32:120", "--repeat", "30", NO_COLOR=None)
        self.assertRegex(shown, r"running slow \[#* *\] \d+ of 30, [2-9]|running slow \[")
        # It is gone before the result is printed.
        self.assertEqual(screen(shown), ["120", ""])
        self.write("prints.cu", PRINTS)
        shown = self.on_terminal("run", "prints.cu", *words[2:], "u32:120", "--repeat", "24",
                                 NO_COLOR=None)
        self.assertIn("running slow [", shown)
        self.assertEqual(screen(shown), [*["turn 120"] * 24, "120", ""])
        quick = self.on_terminal(*words, "u32:1", NO_COLOR=None)
        self.assertNotIn("running", quick)
        self.assertEqual(self.good(*words, "u32:1").stderr, "")


if __name__ == "__main__":
    unittest.main()
