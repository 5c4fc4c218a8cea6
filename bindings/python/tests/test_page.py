"""The programs in Python of the pages, in their order, and what they print."""

import contextlib
import io
import re
import unittest

from support import ROOT, needs_numpy

PAGE = ROOT / "docs/guide/python.md"
# A program, and the text behind it if there is one; `...` stands for any text.
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.M | re.S)


@needs_numpy
class Page(unittest.TestCase):
    def run_program(self, program, names, page):
        """What a program prints."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(program, page.name, "exec"), names)
        return printed.getvalue()

    def test_first_programs(self):
        """Those that begin the site and the wheel's own page are whole."""
        for page in (ROOT / "docs/README.md", ROOT / "packaging/wheel/README.md"):
            program = BLOCK.search(page.read_text("utf-8"))[1]
            self.assertEqual(self.run_program(program, {}, page), "[1. 3. 5. 7. 9.]\n")

    def test_programs_print_what_the_page_says(self):
        names = {}
        blocks = BLOCK.findall(PAGE.read_text("utf-8"))
        self.assertGreater(len(blocks), 5)
        for program, expected in blocks:
            printed = self.run_program(program, names, PAGE)
            pattern = ".*".join(re.escape(part) for part in expected.split("..."))
            self.assertRegex(printed, re.compile(rf"\A{pattern}\Z", re.S))
        names["ctx"].close()


if __name__ == "__main__":
    unittest.main()
