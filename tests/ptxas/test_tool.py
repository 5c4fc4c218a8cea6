"""The comparison's own parts: the judge finds each refused line, lines are rewritten, changed."""

import os
import random
import stat
import tempfile
import unittest

import collect
import context
import mutate
import ptxas

# Refuses lines with "bad"; stops at the first with "syntax", as ptxas does; says nothing of the
# line of one with "late".
FAKE = """#!/usr/bin/env python3
import sys
lines = open(sys.argv[-1]).read().splitlines()
failed = False
for number, line in enumerate(lines, 1):
    if "syntax" in line:
        print(f"ptxas x.ptx, line {number}; fatal   : Parsing error")
        sys.exit(1)
    if "bad" in line or "km_undefined" in line:
        print(f"ptxas x.ptx, line {number}; error   : Illegal {line}")
        failed = True
if not failed and any("late" in line for line in lines):
    print("ptxas fatal   : too late")
    failed = True
sys.exit(1 if failed else 0)
"""


class Tool(unittest.TestCase):
    """See above."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "ptxas")
        with open(path, "w", encoding="utf-8") as file:
            file.write(FAKE)
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        self.judge = ptxas.Ptxas(path, "sm_90")

    def test_judge_finds_every_refused_line(self):
        lines = ["good 1;", "bad 2;", "syntax 3;", "good 4;", "late 5;", "syntax 6;", "bad 7;",
                 "good 8;", "late 9;"]
        verdicts = self.judge.check(lines, context.Setting().wrap)
        self.assertEqual([verdict is None for verdict in verdicts],
                         [line.startswith("good") for line in lines])

    def test_lines_are_rewritten(self):
        text = """.global .align 4 .b8 table[16];
.visible .entry k(.param .u64 p) {
  .reg .b32 %r<9>; .reg.b64 %rd<4>; .reg .pred q;
  ld.param.u64 %rd1, [p];  // comment
  $L: @!q ld.global.v2.b32 {%r1, %r2}, [%rd1+8];
  mov.u64 %rd2, table; { .reg .f32 x; add.f32 x, x, 0f3F800000; }
  bra $L;
  ret;
}
"""
        self.assertEqual(collect.instructions(text), [
            "ld.param.u64 %b64_1, [para];", "ld.global.v2.b32 {%b32_1, %b32_2}, [%b64_1+8];",
            "mov.u64 %b64_1, glob;", "add.f32 %f32_1, %f32_1, 0f3F800000;", "ret;"])

    def test_changes_keep_the_shape_of_a_line(self):
        mutator = mutate.Mutator(random.Random(3))
        line = "ld.global.v2.b32 {%b32_1, %b32_2}, [%b64_1+8];"
        changed = {mutator.change(line) for _ in range(500)}
        self.assertGreater(len(changed), 200)
        for each in changed:
            self.assertTrue(each.startswith("ld") and each.endswith(";"), each)
            self.assertEqual(each.count("\\n"), 0)

    def test_split_and_join_are_inverse(self):
        for line in ("mad.lo.u32 %b32_1, %b32_2, 3, 4;", "ret;",
                     "tex.2d.v4.f32.f32 {%f32_1, %f32_2, _, _}, [tex0, {%f32_1, %f32_2}];"):
            self.assertEqual(mutate.join(*mutate.split(line)), line)


if __name__ == "__main__":
    unittest.main()
