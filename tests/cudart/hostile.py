#!/usr/bin/env python3
"""Arguments that are none, in every function of the CUDA runtime.

    hostile.py LIBRARY PROTOTYPES...

calls each function of the prototypes with null pointers, with memory that holds zeros or garbage,
and with random handles and numbers. None of the calls may end the process: they run in a process of
their own, which is started again after a function that did.
"""

import ctypes
import random
import re
import subprocess
import sys

ROUNDS = 20
ROOM_BYTES = 1 << 16  # of what pointers point to
# The promises of callers are kept: sizes are those of memory that is there.
SIZES = [0, 1, 2, 64]
POINTER_LIKE = re.compile(r"cuda\w+(_t|Handle)$|CUdeviceptr|cudaUUID_t")
# Structures that are passed by value: how many words of 8 bytes.
BY_VALUE = {
    "cudaPitchedPtr": 4, "cudaExtent": 3, "cudaPos": 3, "cudaIpcEventHandle_t": 8,
    "cudaIpcMemHandle_t": 8, "cudaMemLocation": 1,
}  # fmt: skip
CALLED = {"cudaHostFn_t", "cudaStreamCallback_t", "cudaAsyncCallback", "cudaLogsCallback_t"}
WIDE = {"size_t", "unsigned long long", "cudaTextureObject_t", "cudaSurfaceObject_t"}
# Not called: what writes files where a text says.
LEFT_OUT = {"cudaGraphDebugDotPrint", "cudaLogsDumpToFile"}
# Options of these hold addresses of buffers, which are written to.
ONLY_ZEROS = {"cudaLibraryLoadData", "cudaLibraryLoadFromFile"}


class Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


def words_of(count):
    name = f"Words{count}"
    return type(name, (ctypes.Structure,), {"_fields_": [("all", ctypes.c_uint64 * count)]})


def read_prototypes(paths):
    found = {}
    for path in paths:
        for name, text in re.findall(r"^cudaError_t (\w+)\((.*)\);$", open(path).read(), re.M):
            found[name] = [each.strip() for each in text.split(",")] if text.strip() else []
    return {name: kinds for name, kinds in found.items() if name not in LEFT_OUT}


class Caller:
    def __init__(self, library):
        self.library = ctypes.CDLL(library)
        self.room = ctypes.create_string_buffer(ROOM_BYTES)
        self.function = ctypes.cast(ctypes.CDLL(None).abs, ctypes.c_void_p)
        self.structures = {kind: words_of(count) for kind, count in BY_VALUE.items()}

    def value(self, kind, dice):
        if "*" in kind:
            return ctypes.c_void_p(0) if dice.random() < 0.3 else self.room
        if kind == "dim3":
            return Dim3(*(dice.choice([0, 1, 2, 5000]) for _ in range(3)))
        if kind in self.structures:
            made = self.structures[kind]()
            for place in range(BY_VALUE[kind]):
                made.all[place] = dice.choice([0, 1, 64])
            return made
        if kind in CALLED:
            return self.function if dice.random() < 0.7 else ctypes.c_void_p(0)
        if kind == "size_t":
            return ctypes.c_size_t(dice.choice(SIZES))
        if kind == "unsigned int":  # which may count what a pointer points to
            return ctypes.c_uint(dice.choice([0, 1, 2, 3, 7, 64]))
        if kind in WIDE or POINTER_LIKE.match(kind):
            return ctypes.c_uint64(dice.choice([0, 1, 2, 3, dice.getrandbits(44)]))
        return ctypes.c_int(dice.choice([0, 1, 2, 3, 4, 99, -1, 1 << 30]))

    def call(self, name, kinds, dice):
        ctypes.memset(self.room, 0, ROOM_BYTES)
        if name not in ONLY_ZEROS and dice.random() < 0.3:
            small = ctypes.cast(self.room, ctypes.POINTER(ctypes.c_uint32))
            for place in range(0, 64, 2):
                small[place] = dice.choice([0, 1, 2, 3, 7])
        getattr(self.library, name)(*(self.value(kind, dice) for kind in kinds))


def child(library, prototypes, first):
    caller = Caller(library)
    for index, (name, kinds) in enumerate(read_prototypes(prototypes).items()):
        if index < first:
            continue
        dice = random.Random(name)
        for number in range(ROUNDS if kinds else 1):
            print(f"at {index} {name}, round {number}", flush=True)
            caller.call(name, kinds, dice)
    caller.library.cudaDeviceReset()
    print("done", flush=True)


def main():
    library, *prototypes = sys.argv[1:]
    if prototypes[-1].isdigit():
        child(library, prototypes[:-1], int(prototypes[-1]))
        return 0
    first, wrong, calls = 0, [], 0
    while True:
        words = [sys.executable, sys.argv[0], library, *prototypes, str(first)]
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True)
        lines = done.stdout.splitlines()
        calls += len(lines)
        last = lines[-1] if lines else "nothing was called"
        if last == "done" and done.returncode == 0:
            break
        wrong.append(f"{last}: the process ended, {done.returncode}")
        if not last.startswith("at "):
            break
        first = int(last.split()[1]) + 1
    print("\n".join([*wrong, f"{calls} calls, {len(wrong)} ends"]))
    return int(bool(wrong) or calls < 6000)


if __name__ == "__main__":
    sys.exit(main())
