"""Arrays without numpy: shapes, types, copies, fills, parts."""

import array
import unittest

from support import Case, km


class Arrays(Case):
    def test_an_array_tells_what_it_is(self):
        a = self.context.zeros((3, 4), "int16")
        self.assertEqual((a.shape, a.dtype, a.ndim, a.size, a.itemsize, a.nbytes, len(a)),
                         ((3, 4), "int16", 2, 12, 2, 24, 3))
        self.assertEqual(repr(a), "<kernelmill.Array int16 (3, 4) on cpu:0>")
        self.assertIs(a.context, self.context)
        self.assertGreater(a.address, 0)

    def test_names_of_types(self):
        for name in ("float32", "f4", "<f4", "f32"):
            self.assertEqual(self.context.empty(1, name).dtype, "float32")
        self.assertEqual(self.context.empty(1, float).dtype, "float64")
        self.assertEqual(self.context.empty(1, bool).dtype, "bool")
        for wrong in ("f5", "", ">f4", 4, None, object, "str", [1]):
            with self.subTest(wrong), self.assertRaises(TypeError):
                self.context.empty(1, wrong)

    def test_lists_and_buffers(self):
        self.assertEqual(self.context.array(array.array("h", [1, 2])).dtype, "int16")
        self.assertEqual(self.context.array(b"ab").tolist(), [97, 98])
        view = memoryview(bytearray(range(12))).cast("B", (3, 4))
        self.assertEqual(self.context.array(view).shape, (3, 4))
        for values, dtype, wanted in (([1, 2], None, "int64"), ([1, 2.5], None, "float64"),
                                      ([1, 2], "float32", "float32"), ([True], "bool", "bool")):
            a = self.context.array(values, dtype)
            self.assertEqual((a.dtype, a.tolist()), (wanted, values))
        self.assertEqual(self.context.array([]).shape, (0,))
        for wrong in ("text", object(), {1: 2}, None, [object()], memoryview(bytes(9))[::2]):
            with self.subTest(wrong), self.assertRaises((TypeError, ValueError)):
                self.context.array(wrong)

    def test_shapes(self):
        self.assertEqual(self.context.zeros(()).tolist(), [0])
        self.assertEqual(self.context.zeros(0).tolist(), [])
        for wrong, kind in ((-1, ValueError), (1.5, TypeError), ("3", TypeError),
                            (2**63, ValueError), ((2**32, 2**32), ValueError), (None, TypeError)):
            with self.subTest(wrong), self.assertRaises(kind):
                self.context.zeros(wrong)
        with self.assertRaises(km.OutOfMemoryError):
            self.context.empty(2**50)
        with self.assertRaises(MemoryError):
            self.context.empty(2**60, "uint8")

    def test_fills(self):
        for dtype, value in (("uint8", 7), ("float16", 1.5), ("int32", -3), ("float64", 2.5),
                             ("float64", 0), ("int64", 2**40 + 1)):
            a = self.context.empty((2, 3), dtype)
            a.fill(value)
            self.assertEqual(a.tolist(), [value] * 6)
        self.context.empty(0).fill(1)
        with self.assertRaises((TypeError, OverflowError)):
            self.context.empty(2, "uint8").fill(300)

    def test_copies(self):
        a = self.context.array([1, 2, 3], "int32")
        out = array.array("i", [0] * 3)
        a.copy_to(out)
        self.assertEqual(list(out), [1, 2, 3])
        b = self.context.array(a)
        a.copy_from(array.array("i", [4, 5, 6]))
        self.assertEqual((a.tolist(), b.tolist()), ([4, 5, 6], [1, 2, 3]))
        real = self.context.zeros(3, "float32")
        for values in ([1, 2.5, 3], (4, 5, 6), range(3)):
            real.copy_from(values)
            self.assertEqual(real.tolist(), list(values))
        for lossy in ([1.5, 2, 3], [2**40, 2, 3]):
            with self.subTest(lossy), self.assertRaises((TypeError, OverflowError)):
                a.copy_from(lossy)
        b.copy_from(a, self.context.stream())
        self.assertEqual(b.tolist(), [4, 5, 6])
        with km.Context("cpu") as other:
            self.assertEqual(other.array(a).tolist(), [4, 5, 6])
        for wrong in (array.array("i", [1]), array.array("f", [1, 2, 3]), a.reshape(3, 1)[:2]):
            with self.assertRaises(ValueError):
                a.copy_from(wrong)
        for wrong in (bytes(12), array.array("i", [1])):
            with self.assertRaises(ValueError):
                a.copy_to(wrong)
        with self.assertRaises(TypeError):
            a.copy_to([1, 2, 3])

    def test_parts_share_the_memory(self):
        a = self.context.array(array.array("i", range(12))).reshape(4, 3)
        part = a[1:3]
        self.assertEqual((part.shape, part.tolist()), ((2, 3), [3, 4, 5, 6, 7, 8]))
        part.fill(0)
        self.assertEqual(a.tolist(), [0, 1, 2, 0, 0, 0, 0, 0, 0, 9, 10, 11])
        self.assertEqual(a[-1:].tolist(), [9, 10, 11])
        self.assertEqual(a[5:].shape, (0, 3))
        for wrong, kind in ((0, TypeError), ("x", TypeError), ((1, 2), TypeError)):
            with self.assertRaises(kind):
                a[wrong]
        with self.assertRaises(ValueError):
            a[::2]
        with self.assertRaises(ValueError):
            a.reshape(5)

    def test_memory_comes_back(self):
        free = self.context.memory_bytes()[0]
        a = self.context.zeros(1 << 24)
        part = a[:10]
        self.assertLess(self.context.memory_bytes()[0], free)
        a.close()
        self.assertEqual(part.tolist(), [0] * 10)
        del a, part
        self.context.synchronize()
        self.assertEqual(self.context.memory_bytes()[0], free)

    def test_variables(self):
        table = self.module.variable("table", "int32")
        self.assertEqual(table.tolist(), [1, 2, 3, 4])
        self.assertEqual(self.module.variable("table").nbytes, 16)
        self.assertEqual(self.module.variable("table", "int32", (2, 2)).shape, (2, 2))
        for dtype, shape in (("int32", 5), ("complex128", 2)):
            with self.assertRaises(km.Error):
                self.module.variable("table", dtype, shape)
        with self.assertRaises(km.Error):
            self.module.variable("tabel")


if __name__ == "__main__":
    unittest.main()
