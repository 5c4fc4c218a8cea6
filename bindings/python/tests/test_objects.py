"""Objects and their ends, failures of kernels and of calls, threads and processes."""

import copy
import gc
import os
import pickle
import threading
import unittest
import weakref

from support import KERNELS, Case, km


class Objects(Case):
    def test_what_was_closed_raises(self):
        array = self.context.zeros(3)
        stream, event = self.context.stream(), self.context.event()
        module = self.context.module(source=KERNELS, options=["-DFACTOR=2"])
        function = module.function("count")
        launch = function[1, 1]
        for each in (array, stream, event, module, function):
            self.assertFalse(each.closed)
            each.close()
            each.close()
            self.assertTrue(each.closed)
        for use in (array.tolist, lambda: array[1:], lambda: array.address, stream.synchronize,
                    lambda: stream.done, stream.record, event.record, lambda: event.done,
                    lambda: module.names, lambda: module.function("count"), lambda: launch(None, 0),
                    lambda: function.attribute("registers"), array.__enter__,
                    lambda: self.kernel("count")[1, 1](array, 0),
                    lambda: self.kernel("count")[1, 1, stream]):
            self.assertIn("was closed already", self.said(km.Error, use))
        self.assertEqual(repr(array), "<kernelmill.Array float32 (3,) closed>")

    def test_a_context_closes_what_is_its_own(self):
        with km.Context("cpu") as context:
            array, stream = context.zeros(3), context.stream()
            function = context.module(source=KERNELS, options=["-DFACTOR=2"])["count"]
        self.assertTrue(context.closed and array.closed and stream.closed and function.closed)
        for use in (array.tolist, stream.synchronize, lambda: function[1, 1], context.synchronize,
                    lambda: context.zeros(1), context.reset, context.stream, context.event,
                    lambda: context.default_stream, lambda: context.array([1]),
                    lambda: context.module(ptx=""), context.memory_bytes, context.__enter__):
            with self.assertRaises(km.Error) as raised:
                use()
            self.assertEqual(raised.exception.name, "KM_ERROR_INVALID_HANDLE")

    def test_what_nothing_refers_to_is_closed(self):
        context = km.Context("cpu")
        array, stream = context.zeros(4), context.stream()
        handles = [(km.raw.km_slice_destroy, array.handle),
                   (km.raw.km_stream_destroy, stream.handle)]
        gone = [weakref.ref(each) for each in (context, array, stream)]
        del context, array, stream
        self.assertEqual([each() for each in gone], [None] * 3)  # without the garbage collector
        for destroy, handle in handles:
            self.assertEqual(destroy(handle), km.abi.KM_ERROR_INVALID_HANDLE)

    def test_nothing_leaks(self):
        def round_of_use():
            with km.Context("cpu") as context:
                context.module(source=KERNELS, options=["-DFACTOR=2"])["count"][1, 8](
                    context.zeros(8, "int32"), 8)
                context.stream().record().synchronize()

        round_of_use()
        gc.collect()
        before = len(gc.get_objects())
        for _ in range(20):
            round_of_use()
        gc.collect()
        self.assertLess(len(gc.get_objects()) - before, 100)

    def test_objects_are_neither_copied_nor_pickled(self):
        for use in (copy.copy, copy.deepcopy, pickle.dumps):
            for each in (self.context, self.context.zeros(1), self.module):
                with self.assertRaises(TypeError):
                    use(each)

    def test_devices(self):
        self.assertIn("cpu:0", [device.uri for device in km.devices()])
        self.assertEqual(self.context.device.warp_size, 32)
        for wrong, kind in (("gpu", km.Error), ("", km.Error), (0, TypeError),
                            ("cpu\0", ValueError), ("cpu:99", km.Error)):
            with self.assertRaises(kind):
                km.Context(wrong)


class Faults(unittest.TestCase):
    def test_a_fault_stays_until_a_reset(self):
        with km.Context("cpu") as context:
            module = context.module(source=KERNELS, options=["-DFACTOR=2"])
            old = context.zeros(4, "int32")
            module["wild"][1, 1](old, 2**30)
            with self.assertRaises(km.KernelFault) as raised:
                old.tolist()
            self.assertIn("kernel 'wild'", str(raised.exception))
            self.assertEqual(raised.exception.name, "KM_ERROR_ILLEGAL_ADDRESS")
            self.assertRegex(str(raised.exception), r"^illegal address 0x")
            self.assertRegex(raised.exception.call, r"^km_\w+$")
            self.assertIn("call Context.reset()", raised.exception.suggestion)
            with self.assertRaises(km.KernelFault):
                context.zeros(1)
            context.reset()
            self.assertEqual(context.zeros(2).tolist(), [0, 0])
            with self.assertRaises(km.Error) as raised:
                old.tolist()
            self.assertEqual(raised.exception.name, "KM_ERROR_CONTEXT_LOST")
            with self.assertRaises(km.Error):
                module["wild"]

    @unittest.skipUnless(hasattr(km.abi, "KM_CONTEXT_CHECKED"), "contexts have no such flag")
    def test_accesses_are_checked_unless_asked_not_to(self):
        for checked in (None, True, False):
            with km.Context("cpu", checked=checked) as context:
                self.assertEqual(context.checked, checked is not False)
                module = context.module(source=KERNELS, options=["-DFACTOR=2"])
                module["wild"][1, 1](context.zeros(4, "int32"), 4)
                try:
                    context.synchronize()
                    self.assertFalse(context.checked)
                except km.KernelFault as fault:
                    self.assertIn("0 bytes past the end", str(fault))

    def test_errors_travel_between_processes(self):
        with self.assertRaises(km.OutOfMemoryError) as raised, km.Context("cpu") as context:
            context.empty(2**50)
        again = pickle.loads(pickle.dumps(raised.exception))
        self.assertEqual((type(again), str(again), again.status),
                         (km.OutOfMemoryError, str(raised.exception), raised.exception.status))


class Modules(Case):
    def test_the_ways_to_load(self):
        self.assertIn("saxpy", self.module.names)
        x = self.context.array([1, 2], "float32")
        self.module["twice<float>"][1, 2](x)
        self.assertEqual(x.tolist(), [2, 4])

    def test_what_is_refused(self):
        load = self.context.module
        self.assertIn("nothing is given", self.said(TypeError, load))
        self.assertIn("path and ptx", self.said(TypeError, load, "a.cu", ptx=""))
        self.assertIn("give a str", self.said(TypeError, load, source=b"x"))
        self.assertIn("give a list", self.said(TypeError, load, source="", options="-G"))
        self.assertIn("takes no options", self.said(ValueError, load, ptx="", options=["-G"]))
        self.assertIn("No such file", self.said(km.Error, load, "nowhere.cu"))
        with self.assertRaises(FileNotFoundError):
            load("nowhere.cu", options=["-G"])
        for wrong in (5, ["a"]):
            with self.assertRaises(TypeError):
                load(wrong)
        for wrong in ("a\0b",):
            with self.assertRaises(ValueError):
                load(wrong)
        self.assertIn("KM_ERROR_INVALID_PTX", self.said(km.Error, load, ptx="no PTX"))
        self.assertIn("Did you mean 'count'", self.said(km.Error, self.kernel, "cuont"))
        for wrong in (None, 5, b"count"):
            with self.assertRaises(TypeError):
                self.kernel(wrong)

    def test_what_the_compiler_says(self):
        with self.assertRaises(km.CompilationError) as raised:
            self.context.module(source="int f( {", name="broken.cu")
        self.assertIn("broken.cu(1): error", raised.exception.log)


class Processes(Case):
    def test_threads(self):
        count = self.kernel("count")
        wrong = []

        def use():
            stream = self.context.stream()
            for n in range(1, 200):
                out = self.context.zeros(n, "int32")
                count.for_elements(n, stream=stream)(out, n)
                if out.tolist(stream) != list(range(n)):
                    wrong.append(n)

        threads = [threading.Thread(target=use) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        self.assertEqual(wrong, [])

    def test_a_child_gets_an_error(self):
        child = os.fork()
        if child == 0:
            try:
                self.context.zeros(1)
                code = 1
            except km.Error as raised:
                code = 0 if raised.name == "KM_ERROR_FORKED" else 2
            os._exit(code)
        self.assertEqual(os.waitpid(child, 0)[1], 0)


if __name__ == "__main__":
    unittest.main()
