#!/usr/bin/env python3
"""ptxas, nvlink, fatbinary and cuobjdump: what programs read of their output, and exit codes."""

import os
import re
import struct
import subprocess
import unittest

from tool import Case

COMMANDS = os.environ["TEST_COMMANDS"]

ABORTED = "ptxas fatal   : Ptx assembly aborted due to errors\n"

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
KERNEL = (
    HEAD + ".global .align 4 .u32 table[4];\n"
    ".visible .entry k(.param .u64 p) {\n"
    "  .reg .b64 %rd<3>; .reg .b32 %r<4>; .shared .b32 s[4]; .local .b8 l[24];\n"
    "  ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x;\n"
    "  st.global.u32 [%rd1], %r1; st.shared.u32 [s], %r1; bar.sync 0; ret; }\n"
)
CALLER = (
    HEAD + ".extern .func (.param .b32 r) twice(.param .b32 x);\n"
    ".visible .entry run() { .reg .b32 %r<3>;\n"
    "  { .param .b32 a; .param .b32 q; mov.u32 %r1, 1; st.param.b32 [a], %r1;\n"
    "    call (q), twice, (a); ld.param.b32 %r2, [q]; } ret; }\n"
)
CALLEE = (
    HEAD + ".visible .func (.param .b32 r) twice(.param .b32 x) {\n"
    "  .reg .b32 %r<2>; ld.param.b32 %r1, [x]; shl.b32 %r1, %r1, 1; st.param.b32 [r], %r1; ret; }\n"
)


class Commands(Case):
    def command(self, name, *words, expect=0, **variables):
        """The command's output, and what it says on standard error."""
        done = subprocess.run(
            [os.path.join(COMMANDS, name), *words], cwd=self.folder, text=True,
            capture_output=True, check=False, env={**os.environ, **variables},
        )  # fmt: skip
        self.assertEqual(done.returncode, expect, done.stderr)
        return done.stdout, done.stderr

    def assemble(self, text, name, *words):
        self.write(name + ".ptx", text)
        self.command("ptxas", "-arch=sm_80", *words, name + ".ptx", "-o", name)


class Ptxas(Commands):
    def test_the_version_is_found_as_triton_and_xla_look_for_it(self):
        text, _ = self.command("ptxas", "--version")
        self.assertEqual(re.search(r"release (\d+\.\d+)", text)[1], "12.9")
        self.assertEqual(re.search(r"\bV(\d+\.\d+\.\d+)\b", text)[1], "12.9.0")
        text, _ = self.command("ptxas", "-V", KM_CUDA_RELEASE="12.4")
        self.assertIn("release 12.4, V12.4.0", text)
        text, said = self.command("ptxas", "-V", KM_CUDA_RELEASE="none")
        self.assertIn("release 12.9, V12.9.0", text)
        self.assertIn("KM_CUDA_RELEASE=none is no release of CUDA: give one such as 12.9", said)

    def test_the_newest_ptx_stands_between_the_only_two_apostrophes(self):
        self.write("v.ptx", ".version 99.9\n.target sm_80\n")
        _, said = self.command("ptxas", "v.ptx", expect=255)
        self.assertEqual(said,
                         "ptxas v.ptx, line 1; fatal   : Unsupported .version 99.9; current "
                         "version is '8.8'\n" + ABORTED)  # fmt: skip
        _, said = self.command("ptxas", "v.ptx", expect=255, KM_CUDA_RELEASE="12.4")
        self.assertIn("current version is '8.4'", said)

    def test_cubins_are_elf_files(self):
        self.assemble(KERNEL, "k")
        with open(self.path("k"), "rb") as file:
            image = file.read()
        machine, = struct.unpack_from("<H", image, 18)
        offset, = struct.unpack_from("<Q", image, 40)
        size, count = struct.unpack_from("<HH", image, 58)
        self.assertEqual((image[:4], machine), (b"\x7fELF", 190))
        self.assertEqual(offset + size * count, len(image))

    def test_resources_are_told_as_programs_read_them(self):
        self.write("k.ptx", KERNEL)
        _, said = self.command("ptxas", "-v", "-arch", "sm_80", "--warn-on-spills", "k.ptx")
        self.assertIn("ptxas info    : 16 bytes gmem\n", said)
        self.assertIn("ptxas info    : Compiling entry function 'k' for 'sm_80'\n", said)
        self.assertIn("    24 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n", said)
        self.assertRegex(said, r"Used \d+ registers, used 1 barriers, 16 bytes smem")
        self.assertTrue(os.path.exists(self.path("elf.o")))

    def test_options_have_all_their_spellings(self):
        self.write("k.ptx", KERNEL)
        self.write("options", "-arch=sm_80 'k.ptx'\n-o  out")
        self.command("ptxas", "--options-file", "options")
        self.assertTrue(os.path.exists(self.path("out")))
        for words in (["-O3"], ["--opt-level=0"], ["-lineinfo"], ["--fmad=false"],
                      ["-fmad", "true"], ["-w"], ["-m64"], ["-m", "64"],
                      ["--regAllocOptLevel=2"],  # NVIDIA lists it nowhere, Triton gives it
                      ["-g"], ["-maxrregcount", "32"], ["-Ofc", "max"], ["-e", "k"],
                      ["--def-load-cache", "ca"], ["--suppress-debug-info"]):  # fmt: skip
            with self.subTest(words):
                self.command("ptxas", *words, "--gpu-name=sm_90a", "k.ptx", "--output-file", "o")
        os.remove(self.path("o"))
        self.command("ptxas", "-arch=compute_80", "k.ptx", "-o", "o")  # parses alone
        self.assertFalse(os.path.exists(self.path("o")))

    def test_control_bytes_do_not_reach_the_terminal(self):
        for name, text in (("k.ptx", ".version 8.\x1b[31m0\n.target sm_80\n"),
                           ("k.ptx", ".version 8.0\n.target sm_\x07\n"),
                           ("\x1b[2J.ptx", "nothing")):
            self.write(name, text)
            _, said = self.command("ptxas", "-arch=sm_80", name, "-o", "k", expect=255)
            self.assertNotRegex(said, "[\x00-\x08\x0b-\x1f\x7f]")
            self.assertIn("\\x", said)

    def test_failures_have_the_assemblers_words(self):
        self.write("k.ptx", KERNEL)
        self.write("caller.ptx", CALLER)
        self.write("target.ptx", ".version 8.0\n.target sm_999\n")
        self.write("none.ptx", "garbage")
        self.write("lto", b"\xed\x43\x4e\x7f0000")
        self.write("bad.ptx", HEAD + ".visible .entry k() {\n  nonsense.u32 %r1;\n}\n")
        for words, message in (
            (["-arch=sm_42", "k.ptx"], "Value 'sm_42' is not defined for option 'gpu-name'"),
            (["-arch=sm_75", "k.ptx"],
             "SM version specified by .target is higher than default SM version assumed"),
            (["-bogus", "k.ptx"], "Unknown option 'bogus'"),
            (["--bogus=1", "k.ptx"], "Unknown option '-bogus'"),
            (["-arch"], "argument expected after '-arch'"),
            (["--fmad", "maybe", "k.ptx"], "'maybe': expected true or false"),
            (["-maxrregcount=x", "k.ptx"], "Invalid value 'x' for option 'maxrregcount'"),
            (["-arch=sm_80", "-e", "other", "k.ptx"], "Unknown function other"),
            (["nofile.ptx"], "Input file 'nofile.ptx' could not be opened"),
            (["-arch=sm_80", "caller.ptx"], "Unresolved extern function 'twice'"),
            (["-arch=sm_80", "k.ptx", "-o", "/nowhere/x"],
             "Output file '/nowhere/x' could not be opened"),
            (["lto"], "'lto' is code for link-time optimisation (LTO-IR), which only NVIDIA's "
             "libraries compile: give PTX"),
        ):  # fmt: skip
            with self.subTest(words):
                _, said = self.command("ptxas", *words, expect=255)
                self.assertIn(f"ptxas fatal   : {message}\n", said)
        for name, message in (
            ("target.ptx", "line 2; fatal   : Unsupported .target 'sm_999'"),
            ("none.ptx",
             "line 1; fatal   : Missing .version directive at start of file 'none.ptx'"),
            ("bad.ptx", "line 5; error   : "),
        ):
            with self.subTest(name):
                _, said = self.command("ptxas", "-arch=sm_80", name, expect=255)
                self.assertIn(f"ptxas {name}, {message}", said)
                self.assertTrue(said.endswith(ABORTED))


class Nvlink(Commands):
    def test_modules_become_one_cubin(self):
        self.assemble(CALLER, "a", "-c")
        self.assemble(CALLEE, "b", "-c")
        self.command("nvlink", "-arch=sm_80", "a", "b", "-o", "ab.cubin")
        text, _ = self.command("cuobjdump", "-symbols", "ab.cubin")
        self.assertRegex(text, r"STT_FUNC +STB_GLOBAL STO_ENTRY +run\n")
        self.assertRegex(text, r"STT_FUNC +STB_GLOBAL STO_DEFAULT +twice\n")

    def test_failures_have_the_linkers_words(self):
        self.assemble(CALLER, "a", "-c")
        self.assemble(CALLEE, "b", "-c")
        self.write("b2", self.read("b"))
        _, said = self.command("nvlink", "-arch=sm_80", "a", "-o", "x", expect=255)
        self.assertEqual(said, "nvlink error   : Undefined reference to 'twice' in 'a'\n")
        _, said = self.command("nvlink", "-arch=sm_80", "a", "b", "b2", "-o", "x", expect=255)
        self.assertEqual(
            said, "nvlink error   : Multiple definition of 'twice' in 'b2', first defined in 'b'\n")
        for words, message in (
            (["-arch=sm_42", "a", "-o", "x"], "Value 'sm_42' is not defined for option 'arch'"),
            (["a", "-o", "x"], "Unknown arch name '(null)'"),
            (["-arch=sm_80", "a"], "Must specify output file with -o option"),
            (["-arch=sm_80", "nofile.o", "-o", "x"], "Could not open input file 'nofile.o'"),
            (["-arch=sm_80", "-lto", "a", "-o", "x"], "link-time optimisation (-lto)"),
        ):
            with self.subTest(words):
                _, said = self.command("nvlink", *words, expect=1)
                self.assertIn(f"nvlink fatal   : {message}", said)


class FatBinaries(Commands):
    def test_what_is_put_in_comes_out(self):
        self.assemble(KERNEL, "k.cubin")
        self.write("k.ptx", KERNEL)
        self.command("fatbinary", "--create=k.fatbin", "--64",
                     "--image3=kind=elf,sm=80,file=k.cubin", "--image3=kind=ptx,sm=80,file=k.ptx",
                     "--embedded-fatbin=k.c")  # fmt: skip
        text, _ = self.command("cuobjdump", "-lelf", "-lptx", "k.fatbin")
        self.assertEqual(text, "ELF file    1: k.1.sm_80.cubin\nPTX file    1: k.1.sm_80.ptx\n")
        text, _ = self.command("cuobjdump", "-ptx", "k.fatbin")
        self.assertIn(KERNEL, text)
        self.command("cuobjdump", "-xptx", "all", "k.fatbin")
        self.assertEqual(self.read("k.1.sm_80.ptx").decode(), KERNEL)
        self.command("cuobjdump", "-xelf", "all", "k.fatbin")
        self.assertEqual(self.read("k.1.sm_80.cubin"), self.read("k.cubin"))
        text, _ = self.command("cuobjdump", "-res-usage", "k.cubin")
        self.assertRegex(text, r" Function k:\n  REG:\d+ STACK:24 SHARED:16 LOCAL:0 ")
        self.assertIn("0x00100001ba55ed50", self.read("k.c").decode())

    def test_failures_have_the_tools_words(self):
        self.write("k.ptx", KERNEL)
        for words, message in (
            (["--create=o", "--image3=kind=elf,sm=80,file=nofile"],
             "Could not open input file 'nofile'"),
            (["--create=o", "--image3=kind=elf,sm=80"], "Missing file in image"),
            (["--create=o", "--image3=kind=bogus,sm=80,file=k.ptx"],
             "Missing or unknown kind in image3"),
            (["--create=o", "--image3=kind=ptx,sm=80,file=k.ptx,bogus=3"],
             "Keyword 'bogus' is not defined for option 'image3'"),
            (["--bogus"], "Unknown option '-bogus'"),
        ):  # fmt: skip
            with self.subTest(words):
                _, said = self.command("fatbinary", *words, expect=1)
                self.assertEqual(said, f"fatbinary fatal   : {message}\n")
        _, said = self.command("cuobjdump", "nofile", expect=1)
        self.assertEqual(said, "cuobjdump fatal   : Could not open input file 'nofile'\n")
        _, said = self.command("cuobjdump", "k.ptx", expect=255)
        self.assertEqual(said, "cuobjdump info    : File 'k.ptx' does not contain device code\n")
        self.assemble(KERNEL, "k.cubin")
        _, said = self.command("cuobjdump", "-sass", "k.cubin", expect=255)
        self.assertIn("-ptx prints what its cubins hold", said)


if __name__ == "__main__":
    unittest.main()
