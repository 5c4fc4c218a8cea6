"""Names that hold anything: no control character of theirs reaches a terminal or generated code."""

import json
import os
import unittest

from tool import SCALE, Case

ESCAPE = "\x1b]0;owned\a"

# A store to the null address whose source is a file of such a name.
FAULT = f"""
.version 7.8
.target sm_80
.address_size 64
.file 1 "/src{ESCAPE}.cu"
.visible .entry k() {{
  .reg .b64 %a;
  .loc 1 3 0
  mov.u64 %a, 8;
  st.global.u32 [%a], 1;
  ret;
}}
"""

ASSERT = r"""
extern "C" __device__ void __assertfail(const char*, const char*, unsigned, const char*, size_t);
extern "C" __global__ void k() {
  __assertfail("1 < 0 \033[31m", "file\033[31m.cu", 3, "function\033[31m", 1);
}
"""


class Names(Case):
    def said(self, *words, **options):
        """All that the command says, which holds no control characters."""
        result = self.run_tool(*words, **options)
        for text in (result.stdout, result.stderr):
            found = [c for c in text if c < " " and c not in "\n\t" or "\x7f" <= c <= "\x9f"]
            self.assertEqual(found, [], text)
        return result.stdout + result.stderr

    def test_names_within_ptx(self):
        self.write("k.ptx", FAULT)
        self.assertIn("/src\\x1b]0;owned\\x07.cu:3", self.said("run", "k.ptx", "-d", "cpu"))

    def test_names_of_files(self):
        name = f"a{ESCAPE}\nb"
        self.write(f"{name}.cu", SCALE)
        self.write(f"{name}.ptx", FAULT)
        shown = "a\\x1b]0;owned\\x07\\nb"
        self.assertIn("kernel 'k'", self.said("run", f"{name}.ptx", "-d", "cpu"))
        self.said("kernels", f"{name}.cu")
        self.said("corpus", ".")
        self.assertIn(shown, self.said("run", f"{name}.c"))
        self.assertIn(shown, self.said("run", f"no{name}.cu"))
        self.assertIn(shown, self.said("compile", f"{name}.cu", "-o", f"{name}/x.ptx"))
        self.assertIn(shown, self.said("exec", "--", f"{name}"))
        self.said("trace", "-o", f"{name}.json", "--", "true")
        self.said("tune", f"{name}.cu", "-k", "scale", "-t", "4", "-b", "4", "--budget", "1", "-d",
                  "cpu", "--arg", f"in:{name}.npy")

    def test_names_on_the_command_line(self):
        for words in ([ESCAPE], ["info", f"--{ESCAPE}"], ["run", ESCAPE], ["help", ESCAPE],
                      ["run", "k.ptx", "-k", ESCAPE], ["run", "k.ptx", "-d", ESCAPE],
                      ["run", "k.ptx", "-g", ESCAPE], ["run", "k.ptx", "--arg", ESCAPE],
                      ["exec", "--cc", ESCAPE, "--", "true"], ["wrap", "k.ptx", "--lang", ESCAPE],
                      ["wrap", "k.ptx", "--lang", "c", "--name", ESCAPE],
                      ["setup", "--from", ESCAPE]):
            self.write("k.ptx", FAULT)
            self.assertIn("\\x1b", self.said(*words))

    def test_values_of_variables(self):
        for option in ([], ["--verbose"], ["--env"]):
            said = self.said("info", *option, env={"KM_CACHE_DIR": f"/nowhere{ESCAPE}",
                                                  "KM_LOG": f"warn,{ESCAPE}"})
            self.assertIn("KM_LOG", said)
            self.assertIn("\\x1b]0;owned", said)

    def test_assertions(self):
        self.write("k.cu", ASSERT)
        self.assertIn("file\\x1b[31m.cu:3: function\\x1b[31m",
                      self.said("run", "k.cu", "-d", "cpu"))

    def test_generated_code(self):
        name = f"a\n#error injected\n{ESCAPE}.cu"
        self.write(name, SCALE)
        for language in ("c", "cpp", "rust", "go", "zig"):
            result = self.good("wrap", name, "--lang", language, "--name", "a")
            first = "".join(result.stdout.splitlines()[:2])
            self.assertIn("\\n#error injected\\n\\x1b]0;owned\\x07.cu", first)
            self.assertNotIn("\n#error", result.stdout)

    def test_reports(self):
        self.write(f"k{ESCAPE}.cu", 'extern "C" __global__ void k() {}')
        for ending in ("json", "html"):
            self.good("trace", "-o", f"t.{ending}", "--", os.environ["TEST_TOOL"], "run",
                      f"k{ESCAPE}.cu", "-d", "cpu")
            self.assertNotIn(b"\x1b", self.read(f"t.{ending}"))
        json.loads(self.read("t.json"))

    def test_other_letters_stay(self):
        self.write("größe_€_😀.cu", SCALE)
        self.assertIn("größe_€_😀.c'", self.said("run", "größe_€_😀.c"))


if __name__ == "__main__":
    unittest.main()
