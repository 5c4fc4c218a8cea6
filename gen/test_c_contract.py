#!/usr/bin/env python3
"""Tests of c_contract.py: conditions that a comment omits are added from base.h."""

import tempfile
import unittest
from pathlib import Path

from c import c_contract, c_header

HEADER = """
KM_HANDLE(km_context);
KM_HANDLE(km_stream);
KM_HANDLE(km_slice);
typedef struct km_info {
  uint32_t struct_size;
} km_info;
"""


def expanded(doc: str, call: str) -> str:
    text = c_contract.expanded(f"{HEADER}{doc}KM_API km_status {call} KM_NOEXCEPT;\n")
    (function,) = c_header.functions(text)
    return " ".join(function.doc.split())


class Contracts(unittest.TestCase):
    def test_a_comment_without_fields_gets_all_of_them(self):
        self.assertEqual(
            expanded("/** Asks. */\n", "km_ask(km_stream stream, km_info* out_info)"),
            "Asks. Blocking: no. Threads: any. Status: KM_SUCCESS; KM_ERROR_INVALID_HANDLE when "
            "`stream` is not a live stream; KM_ERROR_CONTEXT_LOST when the context of `stream` was "
            "reset after its creation; KM_ERROR_INVALID_ARGUMENT when `out_info` is null or its "
            "struct_size is below 4.",
        )

    def test_own_conditions_come_before_those_that_follow_from_parameters(self):
        text = expanded(
            "/** Asks.\n * Blocking: a while.\n * Status: KM_ERROR_INVALID_ARGUMENT when `n` is 0;"
            "\n *   the sticky error.\n */\n",
            "km_ask(km_context context, uint64_t n, uint64_t* out_a, uint64_t* out_b)",
        )
        self.assertIn("Blocking: a while. Threads: any.", text)
        self.assertIn("KM_ERROR_INVALID_ARGUMENT when `n` is 0, or when `out_a` or `out_b` is "
                      "null; the sticky error of the context when a kernel failed.", text)
        self.assertNotIn("CONTEXT_LOST", text)

    def test_several_objects_may_mismatch_unless_the_comment_takes_it_back(self):
        call = "km_copy(km_stream stream, km_slice to, km_slice from)"
        self.assertIn("`stream` is not a live stream, or `to` or `from` is not a live slice",
                      expanded("/** Copies. */\n", call))
        self.assertIn("KM_ERROR_CONTEXT_MISMATCH when the", expanded("/** Copies. */\n", call))
        self.assertNotIn("MISMATCH", expanded(
            "/** Copies.\n * Status: never KM_ERROR_CONTEXT_MISMATCH.\n */\n", call))
        self.assertIn("MISMATCH when the devices differ;", expanded(
            "/** Copies.\n * Status: KM_ERROR_CONTEXT_MISMATCH when the devices differ;\n"
            " *   the sticky error.\n */\n", call))

    def test_calls_that_destroy_take_null_and_lost_objects(self):
        text = expanded("/** Drops it. */\n", "km_slice_destroy(km_slice slice)")
        self.assertIn("when `slice` is neither null nor a live slice.", text)
        self.assertNotIn("LOST", text)

    def test_texts_are_copied_out(self):
        text = expanded("/** A name. */\n", "km_name(km_context context, char* buffer, "
                        "uint64_t capacity_bytes, uint64_t* out_size_bytes)")
        self.assertIn("KM_ERROR_BUFFER_TOO_SMALL when the text needs more than", text)
        self.assertIn("`buffer` and `out_size_bytes` are both null", text)
        self.assertNotIn("when `out_size_bytes` is null", text)


class Includes(unittest.TestCase):
    def test_each_header_is_read_once_after_what_it_includes(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {
                "c_api.h": '#include "a.h"\n#include "b.h"\nlast\n',
                "a.h": '#include "b.h"\n#include <stdint.h>\nsecond\n',
                "b.h": "first\n",
            }.items():
                (Path(folder) / name).write_text(text)
            lines = c_header.text(Path(folder)).split()
        self.assertEqual(lines, ["first", "#include", "<stdint.h>", "second", "last"])


if __name__ == "__main__":
    unittest.main()
