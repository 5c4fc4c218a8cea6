"""Streams, events, callbacks, and what kernels print."""

import contextlib
import signal
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

from support import KERNELS, Case, km


class Streams(Case):
    @contextlib.contextmanager
    def busy(self):
        """A stream whose kernel ends with the block."""
        flag, stream = self.context.zeros(1, "int32"), self.context.stream()
        self.kernel("spin")[1, 1, stream](flag)
        try:
            yield stream
        finally:
            queue = self.context.default_stream  # what streams write themselves waits for no array
            km.raw.km_stream_write_value(queue.handle, flag.handle, 0, 1, 4)
            stream.synchronize()

    def test_queries_and_time_limits(self):
        with self.busy() as stream:
            event = stream.record()
            self.assertFalse(stream.done)
            self.assertFalse(event.done)
            begin = time.monotonic()
            self.assertFalse(stream.synchronize(0.05))
            self.assertFalse(event.synchronize(timeout_s=0))
            self.assertLess(time.monotonic() - begin, 5)
            self.assertIn("synchronize()", self.said(km.Error, event.elapsed_ns, event))
        self.assertTrue(stream.done and event.done)
        self.assertTrue(event.synchronize() and stream.synchronize(1))
        for wrong, kind in ((-1, ValueError), (float("nan"), ValueError), ("1", TypeError),
                            (True, TypeError), (1e300, ValueError)):
            with self.assertRaises(kind):
                stream.synchronize(wrong)

    def test_events_order_and_measure(self):
        first, second = self.context.stream(), self.context.stream(priority=0)
        out = self.context.zeros(1000, "int32")
        start = first.record()
        self.kernel("count").for_elements(1000, stream=first)(out, 1000)
        end = first.record()
        second.wait(end)
        second.synchronize()
        self.assertGreaterEqual(end.elapsed_ns(start), 0)
        self.assertLessEqual(start.elapsed_ns(end), 0)
        untimed = self.context.event(timing=False)
        untimed.record(second)
        untimed.synchronize()
        with self.assertRaises(km.Error):
            untimed.elapsed_ns(start)
        for wrong in (None, 5, first):
            with self.assertRaises(TypeError):
                first.wait(wrong)
            with self.assertRaises(TypeError):
                end.elapsed_ns(wrong)

    def test_a_wait_can_be_interrupted(self):
        program = """
import os, sys; sys.path.insert(0, sys.argv[1])
from support import KERNELS, km
context = km.Context("cpu")
module = context.module(source=KERNELS, options=["-DFACTOR=2"])
stream, flag = context.stream(), context.zeros(1, "int32")
module["spin"][1, 1, stream](flag)
for wait in (stream.synchronize, context.synchronize, stream.record().synchronize,
             lambda: flag.tolist(stream)):
    print("waits", flush=True)
    try:
        wait()
    except KeyboardInterrupt:
        print("interrupted", flush=True)
os._exit(0)
"""
        folder = str(Path(__file__).resolve().parent)
        with subprocess.Popen([sys.executable, "-c", program, folder], text=True,
                              stdout=subprocess.PIPE) as started:
            try:
                for _ in range(4):
                    self.assertEqual(started.stdout.readline(), "waits\n")
                    time.sleep(0.2)
                    started.send_signal(signal.SIGINT)
                    self.assertEqual(started.stdout.readline(), "interrupted\n")
                self.assertEqual(started.wait(60), 0)
            finally:
                started.kill()

    def test_priorities(self):
        self.assertEqual(self.context.stream(0).priority, 0)
        for wrong, kind in ((10**6, km.Error), (2**40, ValueError), ("0", TypeError)):
            with self.assertRaises(kind):
                self.context.stream(wrong)

    def test_functions_are_called_in_order(self):
        stream, called = self.context.stream(), []
        for i in range(100):
            stream.call(lambda i=i: called.append((i, threading.get_ident())))
        stream.synchronize()
        self.assertEqual([i for i, _ in called], list(range(100)))
        with self.assertRaises(TypeError):
            stream.call(None)
        refused = []

        def wait():
            try:
                stream.synchronize()
            except km.Error as raised:
                refused.append(raised.name)

        stream.call(wait)
        stream.synchronize()
        self.assertEqual(refused, ["KM_ERROR_NOT_PERMITTED"])

    def test_what_a_function_raises_ends_nothing(self):
        unraisable = []
        old, sys.unraisablehook = sys.unraisablehook, unraisable.append
        try:
            self.context.default_stream.call(lambda: 1 // 0)
            self.context.synchronize()
        finally:
            sys.unraisablehook = old
        self.assertEqual([each.exc_type for each in unraisable], [ZeroDivisionError])


class Output(unittest.TestCase):
    def test_what_kernels_print(self):
        said = []
        with km.Context("cpu", output=said.append) as context:
            hello = context.module(source=KERNELS, options=["-DFACTOR=2"])["hello"]
            hello[2, 1](7)
            context.synchronize()
            self.assertEqual("".join(said), "hello 7\nhello 7\n")
            hello[1, 1](8)
        self.assertEqual("".join(said), "hello 7\nhello 7\nhello 8\n")

    def test_what_the_function_raises(self):
        def fails(_text):
            raise KeyError("mine")

        with km.Context("cpu") as context:
            hello = context.module(source=KERNELS, options=["-DFACTOR=2"])["hello"]
            context.output = fails
            hello[1, 1](1)
            with self.assertRaisesRegex(KeyError, "mine"):
                context.synchronize()
            context.output = None
            context.synchronize()
            with self.assertRaises(TypeError):
                context.output = "text"


if __name__ == "__main__":
    unittest.main()
