"""Values of all kinds for every public call: an exception each time, and a process that lives."""

import array
import ctypes
import random
import sys
import unittest
import warnings

from support import KERNELS, Case, km

JUNK = [None, True, -1, 0, 1, 3, 2**31, 2**32, 2**63, 2**64, 10**30, 1.5, float("nan"),
        float("inf"), "", "float32", "\0", "é" * 300, b"", b"\0" * 9, bytearray(8), [], [1], [None],
        [[1, 2], [3]],
        (), (1, 2, 3), {}, {"a": 1}, object(), type, len, 1j, range(4), ctypes.c_int(3),
        ctypes.c_void_p(8), array.array("f", [1, 2]), array.array("d"), memoryview(b"abcd")[::2],
        km.Address(0), km.Address(8), slice(None), Exception("x")]
ROUNDS = 4000


class Bad:
    """An object whose every protocol raises, or lies."""

    shape, dtype = (), "float32"

    def __index__(self):
        raise RuntimeError("index")

    def item(self):
        return self

    def __array__(self, *_, **__):
        raise RuntimeError("array")

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **_):
        raise BufferError("none")


class Hostile(Case):
    def setUp(self):
        self.addCleanup(setattr, sys, "unraisablehook", sys.unraisablehook)
        sys.unraisablehook = lambda _: None  # junk is called by streams, too

    def objects(self, context):
        module = context.module(source=KERNELS, options=["-DFACTOR=2"])
        made = [context, context.zeros(4), context.zeros((2, 2), "int8"), context.stream(),
                context.event(), module, module["saxpy"], module["kinds"], module["count"][1, 1]]
        closed = [context.zeros(1), context.stream(), context.event()]
        for each in closed:
            each.close()
        return made + closed

    def test_calls_with_junk(self):
        chance = random.Random(7)
        context = km.Context("cpu")
        made = self.objects(context)
        skipped = {"close", "handle"}
        calls = raised = 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(ROUNDS):
                target = chance.choice(made)
                names = [name for name in dir(type(target)) if not name.startswith("_")]
                name = chance.choice([*names, "__getitem__", "__call__", "__dlpack__"])
                if name in skipped:
                    continue
                given = [chance.choice(JUNK + made + [Bad()]) for _ in range(chance.randrange(4))]
                calls += 1
                try:
                    method = getattr(target, name)
                    if callable(method):
                        method(*given)
                except Exception:
                    raised += 1
        self.assertGreater(calls, ROUNDS // 2)
        self.assertGreater(raised, calls // 4)
        context.reset()
        self.assertEqual(context.zeros(2).tolist(), [0, 0])
        context.close()

    def test_launches_with_junk(self):
        chance = random.Random(8)
        with km.Context("cpu") as context:
            module = context.module(source=KERNELS, options=["-DFACTOR=2"])
            names = ["saxpy", "kinds", "sum4", "pair", "colour", "count"]
            for _ in range(ROUNDS):
                kernel = module[chance.choice(names)]
                given = [chance.choice(JUNK) for _ in kernel.parameters]
                shape = [chance.choice([1, 1, *JUNK]) for _ in range(2)]
                try:
                    kernel.launch(*given, grid=shape[0], block=shape[1])
                    context.synchronize()
                except km.KernelFault:  # null, or an address that is none
                    context.reset()
                    module = context.module(source=KERNELS, options=["-DFACTOR=2"])
                except Exception:
                    continue


if __name__ == "__main__":
    unittest.main()
