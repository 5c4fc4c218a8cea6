"""Exit codes, help, and what is said when the command line is wrong."""

import os
import unittest

from tool import SCALE, Case, npy


class Usage(Case):
    def test_version_is_all_that_is_printed(self):
        self.assertEqual(self.good("-V").stdout, self.good("--version").stdout)
        self.assertRegex(self.good("--version").stdout, r"\Akernelmill \d+\.\d+\.\d+\n\Z")

    def test_help_of_everything(self):
        self.assertIn("compile", self.good("--help").stdout)
        for command in ("info", "run", "kernels", "compile", "corpus", "trace", "exec", "check",
                        "tune", "wrap", "setup", "help"):
            result = self.good(command, "--help")
            self.assertIn(f"kernelmill {command}", result.stdout)
            self.assertEqual(result.stderr, "")
            self.assertEqual(self.good("help", command).stdout, result.stdout)
        self.assertEqual(self.good("help").stdout, self.good("--help").stdout)
        self.assertIn("unknown command 'rnu'. Did you mean 'run'? The commands are info, run, ",
                      self.bad(2, "help", "rnu"))

    def test_no_command_shows_the_help_on_standard_error(self):
        result = self.run_tool()
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("Subcommands", result.stderr)

    def test_unknown_words(self):
        for words in (["fly"], ["--fly"], ["info", "--fly"], ["compile", "a.cu", "b.cu"]):
            self.assertIn("See 'kernelmill", self.bad(2, *words))

    def test_the_nearest_word_is_suggested(self):
        for words, expected in {
                ("rnu", "k.cu"): "unknown command 'rnu'. Did you mean 'run'?",
                ("fly",): "unknown command 'fly'.\n",
                ("run", "k.cu", "--gird", "4"): "unknown option '--gird'. Did you mean '--grid'?",
                ("run", "k.cu", "--kernle=a"):
                    "unknown option '--kernle'. Did you mean '--kernel'?",
                ("tune", "k.cu", "--thraeds", "4"): "Did you mean '--threads'?",
                ("--versoin",): "Did you mean '--version'?",
                ("info", "--fly"): "unknown option '--fly'.\n",
                ("exec", "--devcies", "2", "--", "true"): "Did you mean '--devices'?",
                ("trace", "ls", "--all"): "Options of the program stand behind '--'."}.items():
            self.assertIn(expected, self.bad(2, *words), words)

    def test_missing_file_argument(self):
        self.assertIn("FILE", self.bad(2, "run"))
        self.assertIn("FILE", self.bad(2, "compile"))

    def test_full_disk_behind_standard_output(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            self.assertIn("standard output", self.bad(1, "--version", stdout=full))


class RunUsage(Case):
    """Everything here is found before a device is opened."""

    def setUp(self):
        super().setUp()
        self.write("k.cu", SCALE)
        self.write("x.npy", npy("f32", [4], [1, 2, 3, 4]))

    def refused(self, *arguments, code=2):
        # A device that does not exist shows that none was tried.
        return self.bad(code, "run", "k.cu", "--device", "none:0", *arguments)

    def test_missing_file(self):
        self.assertIn("'nowhere.cu': No such file or directory\n",
                      self.bad(1, "run", "nowhere.cu"))
        self.assertIn("'scael.cu': No such file or directory. Did you mean 'scale.cu'?",
                      self.bad(1, "run", "scael.cu", "-k", self.write("scale.cu", SCALE)))

    def test_folder_as_file(self):
        os.mkdir(self.path("folder.cu"))
        self.assertIn("'folder.cu': it is a folder", self.bad(1, "run", "folder.cu"))

    def test_other_endings(self):
        self.write("k.txt", SCALE)
        self.assertIn("expected a FILE.cu, a FILE.ptx or a FILE.kmo", self.bad(2, "run", "k.txt"))

    def test_dimensions(self):
        for text in ("0", "1,2,3,4", "a", "1,", "", "-1", "4294967296", "1x2"):
            self.assertIn("--grid", self.refused("--grid", text), text)
        self.assertIn("--block", self.refused("--block", "32,0"))

    def test_repeat(self):
        self.assertIn("--repeat", self.refused("--repeat", "0"))

    def test_argument_specs(self):
        cases = {
            "i32": "expected in:",
            "i32:": "expected in:",
            "bogus:1": "unknown kind 'bogus'. Expected in:",
            "pritn:f32[4]": "unknown kind 'pritn'. Did you mean 'print'?",
            "i32:one": "'one' is not a number of type i32",
            "i32:1.5": "'1.5' is not a number of type i32",
            "u8:256": "'256' does not fit into u8",
            "u32:-1": "'-1' is not a number of type u32",
            "i32:5000000000": "does not fit into i32",
            "f32:": "expected in:",
            "f32:1,,2": "is not a number of type f32",
            "zeros:f32": "is not a shape",
            "zeros:f8[4]": "is not a shape",
            "f16:1,x": "'x' is not a number of type f16",
            "zeros:f32[0]": "without elements",
            "zeros:f32[four]": "'four' is not an extent",
            "zeros:f32[99999999999999999999]": "is not an extent",
            "zeros:f64[9999999999,9999999999]": "more than 64 TiB",
            "zeros:@0": "argument 0 is not an array",
            "out:y.npy": "expected out:FILE:SHAPE",
            "out:y.txt:f32[4]": ".npy or .png",
            "out:y.jpg:4x4x3": "images are written as .png",
            "out:y.png:f32[4,4,3]": "a PNG image is u8",
            "out:y.png:4x4x5": "a PNG image is u8",
            "out:y.png:4x4": "an image is WxHxC",
            "in:x.txt": ".npy or .png",
            "i32:@0.count": "argument 0 is not an array",
        }
        for spec, expected in cases.items():
            message = self.refused("--arg", spec)
            self.assertIn(f"argument 0, '{spec}': ", message)
            self.assertIn(expected, message, spec)

    def test_references(self):
        for spec, expected in {"i32:@0.depth": "expected .count", "i32:@0.dim1": "1 dimension\n",
                               "i32:@0.width": "1 dimension\n", "i32:@1.count": "argument 1",
                               "i32:@x.count": "expected @K", "zeros:@0.count": "is a number",
                               "zeros:f32[@0.width]": "expected .count"}.items():
            message = self.refused("--arg", "in:x.npy", "--arg", spec)
            self.assertIn("argument 1", message)
            self.assertIn(expected, message, spec)

    def test_files_that_cannot_be_used(self):
        self.write("short.npy", npy("f32", [4], [1, 2, 3, 4])[:-1])
        self.write("bad.npy", b"not an array at all")
        self.write("bad.png", b"not a picture")
        self.write("big.npy", npy("f32", [4], [1, 2, 3, 4]).replace(b"<f4", b">f4"))
        self.write("bad.jpg", b"\xff\xd8\xff\xe0 not a picture")
        self.write("huge.npy", npy("f32", [1 << 43], []))
        for spec, expected in {"in:none.npy": "No such file",
                               "in:huge.npy": "it holds 0 bytes of data",
                               "in:short.npy": "header promises 16",
                               "in:bad.npy": "not a .npy file", "in:bad.png": "bad.png",
                               "in:bad.jpg": "bad.jpg",
                               "in:big.npy": "its element type is '>f4', not one of i8, u8",
                               "in:shrot.npy": "Did you mean 'short.npy'?",
                               "out:none/y.npy:f32[4]": "no new file can be made in 'none'",
                               "inout:none.npy": "No such file"}.items():
            self.assertIn(expected, self.refused("--arg", spec, code=1), spec)


if __name__ == "__main__":
    unittest.main()
