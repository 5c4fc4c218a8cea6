"""The programs of docs/guide/python.md, in their order, and what they print."""

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
    def test_programs_print_what_the_page_says(self):
        names = {}
        blocks = BLOCK.findall(PAGE.read_text("utf-8"))
        self.assertGreater(len(blocks), 5)
        for program, expected in blocks:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(program, PAGE.name, "exec"), names)
            pattern = ".*".join(re.escape(part) for part in expected.split("..."))
            self.assertRegex(printed.getvalue(), re.compile(rf"\A{pattern}\Z", re.S))
        names["ctx"].close()


if __name__ == "__main__":
    unittest.main()
