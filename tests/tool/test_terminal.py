"""Colours and bars of the command, on a terminal and without one."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
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
# Fails by an assertion after three times as long, or prints.
FAILS = ("#include <cassert>\n" + SLOW).replace("+ ms *", "+ ms * (1 + 2 * FAILS) *").replace(
    "out[threadIdx.x] = ms;", 'if (FAILS == 0) printf("turn %u\\n", ms);\n  assert(FAILS == 0);')
BAR = re.compile(r"[a-z]+ing [a-z./]+(?: \[[# ]{30}\] \d+ of \d+)?, \d+ s")


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
    def on_terminal(self, *arguments, columns=0, interrupted_at=None, **variables):
        """What the command shows on a terminal. SIGINT comes when it has shown the bytes
        `interrupted_at`."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
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
                if interrupted_at is not None and interrupted_at in shown:
                    process.send_signal(signal.SIGINT)
                    interrupted_at = None
            self.code = process.wait(timeout=120)
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

    def test_a_bar_makes_room_for_all_that_is_written(self):
        """By kernels, by assertions and by the log; the contexts are those of the library."""
        self.write("slow.cu", FAILS)
        words = ("tune", "slow.cu", "--kernel", "slow", "--threads", "1", "--block", "1",
                 "--device", "cpu", "--budget", "6000", "--arg", "print:u32[1]", "--arg")
        shown = self.on_terminal(*words, "u32:150", "--vary", "FAILS=0,1", NO_COLOR="1",
                                 KM_LOG="debug")
        self.assertIn("measuring 2 candidates, 2 s", shown)
        lines = screen(shown)
        self.assertEqual([line for line in lines if BAR.search(line) or "###" in line], [])
        turns = [line for line in lines if "turn" in line]
        self.assertGreater(len(turns), 5, shown)
        self.assertEqual(set(turns), {"turn 150"})
        failed = [line for line in lines if "Assertion" in line]
        self.assertTrue(failed, shown)
        for line in failed:
            self.assertRegex(line, r"^slow\.cu:\d+: .*Assertion `1 == 0` failed\.$")
        logged = [line for line in lines if "debug: " in line or "info: " in line]
        self.assertTrue(logged, shown)
        for line in logged:
            self.assertRegex(line, "^kernelmill: ")

    def test_a_signal_leaves_no_bar(self):
        self.write("slow.cu", SLOW)
        words = ("run", "slow.cu", "--device", "cpu", "--arg", "print:u32[1]", "--arg", "u32:20000")
        shown = self.on_terminal(*words, interrupted_at=b"running slow, 2 s", NO_COLOR="1")
        self.assertEqual(self.code, -signal.SIGINT)
        self.assertEqual(screen(shown), [""])

    def test_a_bar_is_no_wider_than_the_terminal(self):
        """Else it would take two lines, of which one stays."""
        name = "slow" * 20
        self.write("slow.cu", SLOW.replace("slow(", name + "("))
        words = ("run", "slow.cu", "--device", "cpu", "--quiet", "--arg", "print:u32[1]", "--arg")
        for columns in (40, 80):
            shown = self.on_terminal(*words, "u32:100", "--repeat", "25", columns=columns,
                                     NO_COLOR="1")
            bars = re.findall(r"\r([^\r]+)\x1b\[K", shown)
            self.assertGreater(len(bars), 1, shown)
            for bar in bars:
                self.assertLess(len(bar), columns)
                self.assertRegex(bar, r"^running slow.* \d+ of 25, \d+ s$")


if __name__ == "__main__":
    unittest.main()
