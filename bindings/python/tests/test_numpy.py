"""numpy, and arrays of other libraries by DLPack and the CUDA array interface."""

import gc
import subprocess
import sys
import unittest
import weakref

from support import Case, km, needs_numpy, numpy


@needs_numpy
class Numpy(Case):
    def test_every_type_goes_there_and_back(self):
        for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
                     "float16", "float32", "float64", "bool", "complex64", "complex128"):
            values = numpy.arange(6).reshape(2, 3).astype(name)
            array = self.context.array(values)
            self.assertEqual((array.dtype, array.shape), (name, (2, 3)))
            back = array.numpy()
            self.assertEqual(back.dtype, values.dtype)
            numpy.testing.assert_array_equal(back, values)
            self.assertEqual(self.context.zeros(2, values.dtype).dtype, name)
            self.assertEqual(self.context.zeros(2, values.dtype.type).dtype, name)

    def test_structures(self):
        pair = numpy.dtype([("a", "i4"), ("b", "f4")])
        values = numpy.array([(1, 2.5), (3, 4.5)], pair)
        array = self.context.array(values)
        self.assertEqual(array.dtype, pair)
        numpy.testing.assert_array_equal(array.numpy(), values)
        out = self.context.zeros(1)
        self.kernel("pair")[1, 1](values[1], out)
        self.assertEqual(out.numpy()[0], 7.5)

    def test_what_is_no_array_of_numbers(self):
        for wrong in (numpy.array(["a"]), numpy.array([object()]), numpy.zeros(2, ">f4"),
                      numpy.array(["2020"], "datetime64"), [[1], [2, 3]]):
            with self.subTest(wrong), self.assertRaises((TypeError, ValueError)):
                self.context.array(wrong)

    def test_conversions_and_other_layouts(self):
        values = numpy.arange(12.0).reshape(3, 4).T
        numpy.testing.assert_array_equal(self.context.array(values).numpy(), values)
        self.assertEqual(self.context.array(values, "float32").dtype, "float32")
        numpy.testing.assert_array_equal(self.context.array([[1, 2], [3, 4]], "int16").numpy(),
                                         [[1, 2], [3, 4]])
        self.assertEqual(self.context.array(numpy.float32(3)).shape, ())
        numpy.testing.assert_array_equal(numpy.asarray(self.context.array([1, 2])), [1, 2])
        self.assertEqual(numpy.asarray(self.context.zeros(2), numpy.float64).dtype, "float64")

    def test_no_number_is_changed_by_a_conversion(self):
        for values, dtype, kind in (([300], "uint8", OverflowError), ([2.0], "int8", TypeError),
                                    ([-1], "uint64", OverflowError), ([1.5], "int32", TypeError),
                                    ([2], "bool", OverflowError), ([1j], "float32", TypeError)):
            with self.subTest(dtype), self.assertRaises(kind):
                self.context.array(values, dtype)
        self.assertEqual(self.context.array([255, 0], "uint8").tolist(), [255, 0])

    def test_launches_take_arrays(self):
        x, y = numpy.arange(8, dtype=numpy.float32), numpy.ones(8, numpy.float32)
        self.kernel("saxpy")[1, 8](x, y, numpy.float64(2), numpy.int64(8))
        numpy.testing.assert_array_equal(y, 1 + 2 * x)
        x.flags.writeable = False
        self.kernel("saxpy")[1, 8](x, y, numpy.array(1.0), numpy.uint8(8))
        numpy.testing.assert_array_equal(y, 1 + 3 * x)
        for wrong in (x, numpy.zeros(16, numpy.float32)[::2]):
            with self.assertRaises((TypeError, ValueError)):
                self.kernel("saxpy")[1, 8](x, wrong, 1.0, 8)
        text = self.said(TypeError, self.kernel("saxpy")[1, 1], x, y, 1.0, numpy.float32(1))
        self.assertIn("'int', and is given", text)
        out = self.context.zeros(1)
        self.kernel("sum4")[1, 1](numpy.array([1, 2, 3, 4], numpy.float32), out)
        self.assertEqual(out.numpy()[0], 4321)

    def test_a_wrong_copy_is_refused(self):
        array = self.context.zeros((2, 2))
        for wrong in (numpy.zeros((2, 2)), numpy.zeros(3, numpy.float32),
                      numpy.zeros((4, 2), numpy.float32)[::2]):
            with self.assertRaises(ValueError):
                array.copy_to(wrong)


@needs_numpy
class DLPack(Case):
    def test_numpy_sees_the_memory_itself(self):
        array = self.context.array(numpy.arange(6, dtype=numpy.int32)).reshape(2, 3)
        self.assertEqual(array.__dlpack_device__(), (1, 0))
        view = numpy.from_dlpack(array)
        array.fill(5)
        self.context.synchronize()
        numpy.testing.assert_array_equal(view, numpy.full((2, 3), 5))
        gone = weakref.ref(array)
        del array
        gc.collect()
        self.assertIsNone(gone())
        numpy.testing.assert_array_equal(view, numpy.full((2, 3), 5))  # keeps the memory

    def test_views_outlive_their_context(self):
        with km.Context("cpu") as context:
            view = numpy.from_dlpack(context.array([1.0, 2.0]))
        numpy.testing.assert_array_equal(view, [1, 2])

    def test_memory_comes_back_when_the_other_library_is_done(self):
        from kernelmill import _dlpack

        array = self.context.zeros(1 << 20)
        held = len(_dlpack._given)
        view, unused = numpy.from_dlpack(array), array.__dlpack__()
        self.assertEqual(len(_dlpack._given), held + 2)
        del view, unused
        gc.collect()
        self.assertEqual(len(_dlpack._given), held)

    def test_arrays_of_numpy_are_taken_without_a_copy(self):
        values = numpy.arange(1000, dtype=numpy.float32)
        owner = weakref.ref(values)
        array = self.context.from_dlpack(values)
        self.assertEqual(array.address, values.ctypes.data)
        self.kernel("saxpy").for_elements(1000)(array, array, 1.0, 1000)
        self.context.synchronize()
        self.assertEqual(values[999], 1998)
        part = array[10:20]
        del array, values
        gc.collect()
        self.assertIsNotNone(owner())
        self.assertEqual(part.numpy()[0], 20)
        del part
        gc.collect()
        self.assertIsNone(owner())

    def test_memory_is_taken_twice(self):
        values = numpy.arange(10, dtype=numpy.int32)
        whole, part = self.context.from_dlpack(values), self.context.from_dlpack(values[4:])
        part.fill(7)
        self.assertEqual(whole[3:6].tolist(), [3, 7, 7])
        own = self.context.from_dlpack(self.context.array([1.0, 2.0]))
        self.assertEqual(own.tolist(), [1, 2])
        table = self.module.variable("table", "int32")
        self.assertEqual(table[1:3].tolist(), [2, 3])

    def test_versions_and_types(self):
        for name in ("int8", "uint16", "int64", "float16", "float64", "bool", "complex64"):
            values = numpy.ones((2, 2), name)
            if name != "bool":  # older versions of numpy give no capsule of it
                self.assertEqual(self.context.from_dlpack(values).dtype, name)
            array = self.context.array(values)
            for version in (None, (0, 8), (1, 0), (1, 1)):
                capsule = array.__dlpack__(max_version=version)
                wanted = "dltensor_versioned" if version and version[0] else "dltensor"
                self.assertIn(f'"{wanted}"', repr(capsule))
        self.assertEqual(self.context.from_dlpack(numpy.zeros((0, 3))).shape, (0, 3))

    def test_what_is_refused(self):
        array = self.context.zeros(4)
        for named in ({"dl_device": (2, 0)}, {"copy": True}):
            with self.assertRaises(BufferError):
                array.__dlpack__(**named)

        class Elsewhere:
            def __dlpack_device__(self):
                return (2, 0)

            def __dlpack__(self, **_):
                raise AssertionError("not reached")

        class Nothing(Elsewhere):
            def __dlpack_device__(self):
                return (1, 0)

            def __dlpack__(self, **_):
                return object()

        text = self.said(km.Error, self.context.from_dlpack, Elsewhere())
        self.assertIn("copy it by array()", text)
        self.assertIn("no capsule", self.said(TypeError, self.context.from_dlpack, Nothing()))
        for wrong in ([1], None, 5):
            with self.assertRaises(TypeError):
                self.context.from_dlpack(wrong)
        with self.assertRaises(ValueError):
            self.context.from_dlpack(numpy.zeros((4, 4))[:, :2])
        used = array.__dlpack__()
        Once = type("Once", (Nothing,), {"__dlpack__": lambda self, **_: used})
        self.context.from_dlpack(Once())
        with self.assertRaises(TypeError):
            self.context.from_dlpack(Once())
        with self.assertRaises((TypeError, BufferError)):
            values = numpy.zeros(3)
            values.flags.writeable = False
            self.context.from_dlpack(values)

    def test_launches_take_what_has_dlpack(self):
        class Tensor:
            def __init__(self, values):
                self.values = values

            def __dlpack_device__(self):
                return self.values.__dlpack_device__()

            def __dlpack__(self, **named):
                return self.values.__dlpack__(**named)

        values = numpy.zeros(16, numpy.int32)
        self.kernel("count")[1, 16](Tensor(values), 16)
        numpy.testing.assert_array_equal(values, numpy.arange(16))

    def test_memory_of_the_host_is_no_cuda_array(self):
        array = self.context.zeros(4)
        self.assertFalse(hasattr(array, "__cuda_array_interface__"))

        class OnGpu:
            __cuda_array_interface__ = {"data": (4096, False), "shape": (1,), "typestr": "<f4",
                                        "version": 3, "strides": None, "stream": None}

        self.assertIn("on a GPU", self.said(TypeError, self.kernel("count")[1, 1], OnGpu(), 1))

    def test_the_interpreter_ends_with_everything_alive(self):
        program = """
import sys; sys.path.insert(0, sys.argv[1])
import kernelmill as km, numpy
context = km.Context("cpu", output=print)
array = context.zeros(4)
views = [numpy.from_dlpack(array), array.__dlpack__(), array.__dlpack__(max_version=(1, 0))]
taken = context.from_dlpack(numpy.ones(1000))
context.default_stream.call(lambda: None)
sys.modules["kept"] = views  # ends after the module's own names
print("end", flush=True)
"""
        folder = km.__file__.rsplit("/", 2)[0]
        for _ in range(3):
            done = subprocess.run([sys.executable, "-c", program, folder], capture_output=True,
                                  text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "end\n", ""))


if __name__ == "__main__":
    unittest.main()
