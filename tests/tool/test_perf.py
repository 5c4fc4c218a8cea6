"""KM_PERF: what perf is told about generated code."""

import glob
import os
import re
import shutil
import struct
import subprocess
import unittest

from tool import TOOL, Case

HEADER, RECORD = struct.Struct("<6I2Q"), struct.Struct("<2IQ2I4Q")
PERF = shutil.which("perf")


class Perf(Case):
    def setUp(self):
        super().setUp()
        self.words = self.scale_words()

    def dump(self):
        (path,) = glob.glob(self.path("jit-*.dump"))
        with open(path, "rb") as file:
            return path, file.read()

    def test_the_file_holds_the_code(self):
        self.good(*self.words, env={"KM_PERF": "1"})
        path, content = self.dump()
        magic, version, size, machine, _, process, _, flags = HEADER.unpack_from(content)
        self.assertEqual((magic, version, size, machine, flags), (0x4A695444, 1, 40, 62, 0))
        self.assertTrue(path.endswith(f"/jit-{process}.dump"))
        names, at = [], size
        while at < len(content):
            kind, size, time, owner, _, address, code, length, index = RECORD.unpack_from(
                content, at)
            self.assertEqual((kind, owner, address, index), (0, process, code, len(names)))
            self.assertTrue(time and length)
            name, _, rest = content[at + RECORD.size:at + size].partition(b"\0")
            self.assertEqual(len(rest), length)
            names.append(name.decode())
            at += size
        self.assertEqual(at, len(content))
        self.assertIn("scale, blocks of 256 x 1 x 1", names)

    def test_nothing_is_written_unasked(self):
        self.good(*self.words)
        self.assertEqual(glob.glob(self.path("jit-*")), [])

    def test_a_folder_that_cannot_be_written_is_told(self):
        words = [re.sub(r"(scale\.cu|[xy]\.npy)", rf"{self.folder}/\1", each)
                 for each in self.words]
        result = subprocess.run([TOOL, *words], cwd="/proc", capture_output=True, text=True,
                                env=dict(os.environ, KM_PERF="1"), timeout=120, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr,
                         r"a file in the current folder\): cannot write 'jit-\d+\.dump': \w+")

    @unittest.skipUnless(PERF, "perf is not there")
    def test_perf_reads_it(self):
        record = [PERF, "record", "-q", "-k", "mono", "-e", "cpu-clock", "-F", "20000", "-o",
                  "perf.data", TOOL, *self.words, "--repeat", "20000"]
        result = subprocess.run(record, cwd=self.folder, capture_output=True, text=True,
                                env=dict(os.environ, KM_PERF="1"))
        if result.returncode != 0:
            self.skipTest("perf cannot record: " + result.stderr.strip())
        inject = [PERF, "inject", "--jit", "-i", "perf.data", "-o", "told.data"]
        subprocess.run(inject, cwd=self.folder, check=True, capture_output=True)
        report = [PERF, "report", "-i", "told.data", "--stdio", "--sort", "symbol"]
        text = subprocess.run(report, cwd=self.folder, check=True, capture_output=True,
                              text=True).stdout
        self.assertIn("scale, blocks of 256 x 1 x 1", text)


if __name__ == "__main__":
    unittest.main()
