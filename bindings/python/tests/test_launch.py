"""Launches: what becomes of each kind of argument, and what is refused in which words."""

import array
import ctypes
import struct
import unittest

from support import PTX, Case, km


class Launch(Case):
    def test_arrays_of_the_device(self):
        x = self.context.array(array.array("f", range(100)))
        y = self.context.zeros(100)
        self.kernel("saxpy")[1, 128](x, y, 2.0, 100)
        self.assertEqual(y.tolist(), [2.0 * i for i in range(100)])

    def test_arrays_of_the_host_are_copied_both_ways(self):
        x, y = array.array("f", [1, 2, 3]), array.array("f", [10, 20, 30])
        self.kernel("saxpy")[1, 32](x, y, 2, 3)
        self.assertEqual(list(y), [12, 24, 36])
        self.kernel("saxpy")[1, 32](bytes(4), bytearray(4), 2, 0)  # what is const may be read-only
        out = array.array("i", [0] * 5)
        self.kernel("count").for_elements(5)(out, 5)
        self.assertEqual(list(out), [0, 1, 2, 3, 4])

    def test_an_array_given_twice_is_one(self):
        out, both = array.array("i", [0]), array.array("i", [0])
        self.kernel("same")[1, 1](both, both, out)
        self.assertEqual(out[0], 1)

    def test_numbers_of_every_type(self):
        out = self.context.zeros(11, "float64")
        kinds = self.kernel("kinds")
        kinds[1, 1](-128, 255, -2**15, 2**16 - 1, 2**32 - 1, -2**63, 2**64 - 1, 0.1, True, 1.5, 3,
                    out)
        self.assertEqual(out.tolist(), [-128, 255, -2**15, 2**16 - 1, 2**32 - 1, -2.0**63, 2.0**64,
                                        0.1, 1, 1.5, 3])
        kinds[1, 1](ctypes.c_int(5), 0, 0, 0, 0, 0, 0, 7, 0, -0.25, 1.00390625, out)
        self.assertEqual(out.tolist(), [5, 0, 0, 0, 0, 0, 0, 7, 0, -0.25, 1.0])  # rounds to even
        kinds[1, 1](0, 0, 0, 0, 0, 0, 0, 7, 0, 0, float("nan"), out)
        self.assertNotEqual(out.tolist()[10], out.tolist()[10])

    def test_vectors_structures_and_enumerations(self):
        out = self.context.zeros(1)
        self.kernel("sum4")[1, 1]((1, 2, 3, 4.0), out)
        self.assertEqual(out.tolist(), [4321])

        class Pair(ctypes.Structure):
            _fields_ = [("a", ctypes.c_int), ("b", ctypes.c_float)]

        for pair in (Pair(3, 0.5), struct.pack("if", 3, 0.5), bytearray(struct.pack("if", 3, 0.5))):
            self.kernel("pair")[1, 1](pair, out)
            self.assertEqual(out.tolist(), [3.5])
        number = self.context.zeros(1, "int32")
        self.kernel("colour")[1, 1](7, number)
        self.assertEqual(number.tolist(), [7])

    def test_null_and_addresses(self):
        out = self.context.zeros(1, "int32")
        self.kernel("is_null")[1, 1](None, out)
        self.assertEqual(out.tolist(), [1])
        self.kernel("same")[1, 1](km.Address(out.address), out, out)
        self.assertEqual(out.tolist(), [1])

    def test_ptx_tells_sizes_alone(self):
        bits = self.context.module(ptx=PTX).function("bits")
        out = self.context.zeros(24, "uint8")
        bits[1, 1](out, ctypes.c_float(1.5), -1, 2.5, 0.25)
        self.assertEqual(struct.unpack("fIfxxxxd", out.tobytes()), (1.5, 2**32 - 1, 2.5, 0.25))
        bits[1, 1](out, 7, 2**32 - 1, 2, out)
        self.assertEqual(struct.unpack("IIfxxxxQ", out.tobytes()), (7, 2**32 - 1, 2, out.address))
        self.assertIn("ctypes.c_float", self.said(TypeError, bits[1, 1], out, 1.5, 0, 0, 0))

    def test_shared_memory_streams_and_keywords(self):
        out = self.context.zeros(32, "int32")
        stream = self.context.stream()
        self.kernel("shared")[1, 32, stream, 128](out)
        self.assertEqual(out.tolist(), list(range(31, -1, -1)))
        self.kernel("count").launch(out, 32, grid=(1, 1), block=[32], stream=stream)
        self.assertEqual(out.tolist(), list(range(32)))

    def test_a_kernel_tells_what_it_takes(self):
        saxpy = self.kernel("saxpy")
        self.assertEqual([each.type for each in saxpy.parameters],
                         ["const float*", "float*", "float", "int"])
        self.assertEqual(repr(saxpy),
                         "<kernelmill.Function saxpy(const float*, float*, float, int)>")
        self.assertGreater(saxpy.attribute("max_threads_per_block"), 0)
        threads, blocks = saxpy.best_block()
        self.assertGreaterEqual(threads, 32)
        self.assertGreaterEqual(blocks, 1)
        saxpy.prepare(128)
        self.kernel("shared").set_attribute("max_dynamic_shared_bytes", 65536)


class Refused(Case):
    """The wrong values, each with the words that it gets."""

    def refused(self, name, *arguments):
        return self.said(TypeError, self.kernel(name)[1, 1], *arguments)

    def test_the_number_of_arguments(self):
        self.assertEqual(self.refused("saxpy", None, None),
                         "saxpy(const float*, float*, float, int) takes 4 arguments, and 2 were "
                         "given")

    def test_what_is_no_memory(self):
        self.assertEqual(
            self.refused("saxpy", 1, None, 2.0, 3),
            "saxpy: parameter 0 is 'const float*', and is given an int (1): give an Array "
            "(context.array, zeros, empty), an array of numpy, kernelmill.Address(number), or None "
            "for a null pointer")
        for wrong in ([1.0], 2.5, "x", object(), ctypes.c_float(1)):
            self.assertIn("parameter 1 is 'float*'", self.refused("saxpy", None, wrong, 2.0, 3))

    def test_what_is_no_number(self):
        self.assertEqual(self.refused("saxpy", None, None, "2", 3),
                         "saxpy: parameter 2 is 'float', and is given a str ('2'): give a number")
        self.assertEqual(self.refused("saxpy", None, None, 2, 3.0),
                         "saxpy: parameter 3 is 'int', and is given a float (3.0): give an int, "
                         "such as int(3.0)")
        for wrong in (None, [1], b"abcd", self.context.zeros(1), 1j):
            self.assertIn("parameter 2 is 'float'", self.refused("saxpy", None, None, wrong, 3))
            self.assertIn("parameter 3 is 'int'", self.refused("saxpy", None, None, 2.0, wrong))

    def test_instances_of_templates_have_the_name_that_was_asked_for(self):
        twice = self.kernel("twice<float>")
        self.assertEqual(repr(twice), "<kernelmill.Function twice<float>(float*)>")
        self.assertIn("twice<float>: parameter 0 is", self.refused("twice<float>", 1))
        text = self.said(km.Error, twice[1, 1], self.context.zeros(1, "float64"))
        self.assertIn("of kernel 'twice<float>' is 'float*'", text)
        text = self.said(km.Error, self.kernel, "twice<int>")
        self.assertIn("instances that Context.module(..., expressions=[...]) names", text)

    def test_numbers_that_do_not_fit(self):
        good = [0, 0, 0, 0, 0, 0, 0, 0.0, False, 0.0, 0.0, None]
        wrong = [128, -1, 2**15, 2**16, -1, 2**63, 2**64, 10**400, 2, 1e6, 1e39]
        for place, value in enumerate(wrong):
            arguments = good[:place] + [value] + good[place + 1:]
            with self.subTest(place):
                self.assertRegex(self.refused("kinds", *arguments), f"parameter {place} is '.*',")

    def test_vectors_and_structures_of_another_size(self):
        self.assertIn("3 numbers: give 4", self.refused("sum4", (1, 2, 3), None))
        self.assertIn("give 4 numbers", self.refused("sum4", 1.0, None))
        self.assertIn("give a number", self.refused("sum4", "abcd", None))
        self.assertIn("of 3 bytes: give 8 bytes", self.refused("pair", b"abc", None))
        self.assertIn("a scalar of a structured dtype", self.refused("pair", 3, None))

    def test_memory_that_may_not_be_written(self):
        self.assertIn("read-only", self.refused("count", bytes(40), 10))

    def test_elements_of_another_type(self):
        wrong = self.context.zeros(4, "float64")
        text = self.said(km.Error, self.kernel("saxpy")[1, 1], None, wrong, 1.0, 1)
        self.assertIn("'float*'; the slice given for it has elements of 'double'", text)
        text = self.said(km.Error, self.kernel("saxpy")[1, 1], None, array.array("d", [1]), 1.0, 1)
        self.assertIn("elements of 'double'", text)

    def test_shapes_of_launches(self):
        count = self.kernel("count")
        for key in ((), 1, (1,), (1, 2, None, 0, 5)):
            with self.assertRaises(TypeError):
                count[key]
        for grid, block in ((-1, 1), ((1, 2, 3, 4), 1), (1, ()), (2**32, 1)):
            with self.assertRaises(ValueError):
                count[grid, block]
        for grid, block in ((1.5, 1), ("1", 1), (1, None)):
            with self.assertRaises(TypeError):
                count[grid, block]
        self.assertIn("stream is a str", self.said(TypeError, lambda: count[1, 1, "stream"]))
        self.assertIn("grid and a block", self.said(TypeError, count, 1))
        self.assertIn("block.x is 4096", self.said(km.Error, count[1, 4096], None, 0))
        self.assertIn("grid.x is 0", self.said(km.Error, count[0, 1], None, 0))

    def test_objects_of_another_context(self):
        with km.Context("cpu") as other:
            text = self.said(km.Error, self.kernel("count")[1, 1], other.zeros(1, "int32"), 1)
            self.assertIn("another context", text)
            with self.assertRaises(km.Error):
                self.kernel("count")[1, 1, other.stream()](None, 0)


if __name__ == "__main__":
    unittest.main()
