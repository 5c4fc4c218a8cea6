"""KM_DUMP prints each stage that it names; the manual's excerpts are what it prints."""

import os
import re
import unittest

from tool import SOURCE_DIR, Case, npy

FOLDER = os.path.join(SOURCE_DIR, "docs", "internals")
HEADS = {
    "ptx": "ptx of above.ptx",
    "ir": "ir of above",
    "masks": "masks of above",
    "plan": "plan of above",
    "llvm": "llvm of above",
    "asm": "asm of above",
}

SPIN = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry spin(.param .u64 lock)
{
  .reg .pred %p;
  .reg .b32 %r<2>;
  .reg .b64 %rd;
  ld.param.u64 %rd, [lock];
AGAIN:
  atom.global.cas.b32 %r1, [%rd], 0, 1;
  setp.ne.s32 %p, %r1, 0;
  @%p bra AGAIN;
  st.global.b32 [%rd], 0;
  ret;
}
"""


def text_of(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()


class Dump(Case):
    def setUp(self):
        super().setUp()
        self.write("above.ptx", text_of("above.ptx"))
        self.write("x.npy", npy("f32", [64], range(1, 65)))

    def dump(self, stages):
        """The texts of each heading, of a run that gives the right numbers."""
        result = self.good(
            "run", "above.ptx", "--device", "cpu", "--block", "64", "--quiet",
            "--arg", "print:f32[64]", "--arg", "in:x.npy",
            env={"KM_DUMP": stages, "KM_CPU_ISA": "x86-64-v2", "KM_CPU_MEMORY": "plain"})
        self.assertEqual(result.stdout.split(), [str(i) for i in range(64)])
        parts = re.split(r"^==== (.*)\n", result.stderr, flags=re.M)
        texts = {}
        for head, text in zip(parts[1::2], parts[2::2]):
            texts.setdefault(head, []).append(text)
        return texts

    def test_prints_the_stages_that_are_named(self):
        for stage, head in HEADS.items():
            with self.subTest(stage=stage):
                texts = self.dump(stage)
                self.assertIn(head, texts)
                self.assertEqual({name.split(" ")[0].rstrip(",") for name in texts}, {stage})

    def test_the_module_is_printed_as_ptx_that_loads(self):
        self.write("above.ptx", self.dump("ptx")["ptx of above.ptx"][0])
        self.assertIn("ptx of above.ptx", self.dump("ptx"))

    def test_the_plan_says_which_mode_and_why(self):
        plan = "masks, the plan, of "
        self.assertEqual(self.dump("masks")[plan + "above"],
                         ["mode a, packets of 32 lanes, 2 regions\n"])
        self.write("spin.ptx", SPIN)
        words = ("run", "spin.ptx", "--device", "cpu", "--block", "64", "--arg", "zeros:i32[1]")
        for mode, reason in (("a", "spin.ptx:12:3: 'atom.global.cas.b32' decides when a loop ends, "
                              "which may wait for lanes of the same warp"),
                             ("b", None)):
            log = self.good(*words, env={"KM_DUMP": "masks", "KM_CPU_MODE": mode}).stderr
            self.assertIn("==== masks, the plan, of spin\nmode c, packets of 32 lanes, 1 region\n",
                          log)
            self.assertIn(f"because {reason or 'spin.ptx:12:3'}", log)
        self.write("above.ptx", text_of("above.ptx"))
        log = self.good("run", "above.ptx", "--device", "cpu", "--block", "64", "--arg",
                        "zeros:f32[64]", "--arg", "in:x.npy",
                        env={"KM_DUMP": "masks", "KM_CPU_MODE": "b"}).stderr
        self.assertIn("mode b, packets of 32 lanes, 1 region\nbecause KM_CPU_MODE asks", log)

    def test_the_manual_shows_what_is_printed(self):
        texts = self.dump("ir,masks,plan")
        page = text_of("walkthrough.md")
        for stage in ("ir", "masks", "plan"):
            shown = re.findall(rf"^```{stage}\n(.*?)^```", page, re.M | re.S)
            self.assertEqual(shown, texts[HEADS[stage]])


if __name__ == "__main__":
    unittest.main()
