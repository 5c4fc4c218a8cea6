#!/usr/bin/env python3
"""Handles, device addresses and devices that are none, in every function of the CUDA driver.

    handles.py LIBRARY PROTOTYPES

calls each function of prototypes.h that takes some, with one of them wrong at a time: zero, small
numbers, random ones, addresses of the host, handles of what is gone, and live handles of every
other kind. The rest of the arguments is right, or zero. Each such call has to return an error, and
none may end the process: the calls run in a process of their own, which is started again behind
one that did.
"""

import ctypes
import random
import re
import subprocess
import sys

PTX = b""".version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 counter;
.visible .entry noop() { ret; }
"""
ROOM_BYTES = 8192  # of what pointers point to
DEVICES = [-1, 99, -(2**31), 2**31 - 1]
CUDA_SUCCESS = 0
NOT_SUPPORTED = 801

# What is no error although it looks wrong: (functions; type; which values). A stream of 0 to 2 is a
# default one, and is not tried.
FINE = [
    # The current context.
    ("cuCtx(SetCurrent|GetApiVersion|GetDevice|GetId|Synchronize)", "CUcontext", "zero"),
    # Kernels are taken for their functions.
    ("cuFunc.*|cuLaunch(Cooperative)?Kernel|cuOccupancy.*", "CUfunction", "a CUkernel"),
    ("cuLaunch(Grid(Async)?)?|cuParamSet.*", "CUfunction", "a CUkernel"),
    # Unknown addresses are the host's; the host can read all memory of devices.
    ("cuMemcpy(Async)?", "CUdeviceptr", "of the host|stale"),
    # Gives null for what is no address.
    ("cuPointerGetAttributes", "CUdeviceptr", ".*"),
    ("cuMemFree|cuMemFreeAsync", "CUdeviceptr", "zero"),
]


def read_prototypes(path):
    """{symbol: [types of parameters]}"""
    found = {}
    for name, text in re.findall(r"^CUresult (\w+)\((.*)\);$", open(path).read(), re.M):
        found[name] = [each.strip() for each in text.split(",")] if text.strip() else []
    return found


class Objects:
    """One live handle of each type, and one of what is gone."""

    def __init__(self, cuda):
        self.cuda, self.live, self.stale = cuda, {}, {}
        self.call("cuInit", 0)
        self.pair("CUcontext", "cuCtxCreate_v2", "cuCtxDestroy_v2", 0, 0)
        self.context = self.live["CUcontext"]
        self.call("cuCtxSetCurrent", self.context)
        self.pair("CUstream", "cuStreamCreate", "cuStreamDestroy_v2", 1)
        self.pair("CUevent", "cuEventCreate", "cuEventDestroy_v2", 0)
        self.pair("CUmodule", "cuModuleLoadData", "cuModuleUnload", PTX)
        self.pair("CUlibrary", "cuLibraryLoadData", "cuLibraryUnload", PTX, 0, 0, 0, 0, 0, 0)
        self.made("CUfunction", "cuModuleGetFunction", self.live["CUmodule"], b"noop")
        self.made("CUkernel", "cuLibraryGetKernel", self.live["CUlibrary"], b"noop")
        self.pair("CUgraph", "cuGraphCreate", "cuGraphDestroy", 0)
        graph = self.live["CUgraph"]
        self.pair("CUgraphNode", "cuGraphAddEmptyNode", "cuGraphDestroyNode", graph, 0, 0)
        self.pair("CUgraphExec", "cuGraphInstantiateWithFlags", "cuGraphExecDestroy", graph, 0)
        properties = (ctypes.c_int32 * 64)(1, 0, 1, 0)  # pinned memory of device 0
        self.pair("CUmemoryPool", "cuMemPoolCreate", "cuMemPoolDestroy", properties)
        self.pair("CUlinkState", "cuLinkCreate_v2", "cuLinkDestroy", 0, 0, 0, last=True)
        function = ctypes.cast(ctypes.CDLL(None).abs, ctypes.c_void_p).value
        self.pair("CUuserObject", "cuUserObjectCreate", "cuUserObjectRelease", 0, function, 1, 1,
                  end_with=(1,))  # fmt: skip
        resource = (ctypes.c_uint8 * 144)()  # of the multiprocessors
        self.call("cuDeviceGetDevResource", 0, resource, 1)
        self.made("CUdevResourceDesc", "cuDevResourceGenerateDesc", resource, 1)
        self.pair("CUgreenCtx", "cuGreenCtxCreate", "cuGreenCtxDestroy",
                  self.live["CUdevResourceDesc"], 0, 1)  # fmt: skip
        self.pair("CUdeviceptr", "cuMemAlloc_v2", "cuMemFree_v2", 4096)
        size = ctypes.c_uint64(0)
        self.call("cuMemGetAllocationGranularity", ctypes.byref(size), properties, 0)
        self.pair("CUmemGenericAllocationHandle", "cuMemCreate", "cuMemRelease", size.value,
                  properties, 0)  # fmt: skip

    def call(self, name, *arguments):
        result = getattr(self.cuda, name)(*map(argument, arguments))
        if result != CUDA_SUCCESS:
            sys.exit(f"{name}: {result}")

    def made(self, kind, create, *arguments, last=False):
        out = ctypes.c_uint64(0)
        place = ctypes.byref(out)
        self.call(create, *([*arguments, place] if last else [place, *arguments]))
        self.live[kind] = out.value
        return out.value

    def pair(self, kind, create, destroy, *arguments, last=False, end_with=()):
        gone = self.made(kind, create, *arguments, last=last)
        self.stale[kind] = gone
        self.made(kind, create, *arguments, last=last)  # before: its place is not to be taken
        self.call(destroy, gone, *end_with)


def argument(value):
    if isinstance(value, int):
        return ctypes.c_uint64(value & (2**64 - 1))
    return value


class Caller:
    def __init__(self, cuda, objects):
        self.cuda, self.objects = cuda, objects
        self.room = ctypes.create_string_buffer(ROOM_BYTES)
        self.random = random.Random(8)
        function = ctypes.cast(ctypes.CDLL(None).abs, ctypes.c_void_p).value
        kinds = ("CUhostFn", "CUstreamCallback", "CUlogsCallback", "CUoccupancyB2DSize")
        self.functions = dict.fromkeys(kinds, function)

    def is_object(self, kind):
        return kind in self.objects.live or kind == "CUdevice"

    def wrong_values(self, kind):
        """(what, value)"""
        if kind == "CUdevice":
            return [("no device", value) for value in DEVICES]
        found = [("zero", 0), ("small", 1), ("small", 2), ("small", 3)]
        if kind == "CUstream":
            found = found[3:]
        found += [("random", self.random.getrandbits(64)) for _ in range(4)]
        found += [("low random", self.random.getrandbits(44)) for _ in range(2)]
        right = self.objects.live[kind]
        if kind != "CUdeviceptr":
            bits = [right ^ (1 << bit) for bit in range(8, 64)]
            live = self.objects.live.values()
            found += [("bit", value) for value in bits if value not in live]
        found += [("of the host", ctypes.addressof(self.room)), ("all ones", 2**64 - 1)]
        if kind in self.objects.stale:
            found.append(("stale", self.objects.stale[kind]))
        others = [each for each in self.objects.live if each != kind]
        return found + [(f"a {other}", self.objects.live[other]) for other in others]

    def other_argument(self, kind, number):
        """Of a parameter that is to be right."""
        plain = kind.replace("const ", "")
        if plain in self.objects.live:
            return self.objects.live[plain]
        if kind == "const char*":
            return b"noop"
        if "*" in kind:
            return self.room
        if kind == "size_t":  # with none of something there is nothing to be wrong
            return 1
        return self.functions.get(kind, 0 if kind == "CUdevice" else number)

    def call(self, name, kinds, place, value, number):
        ctypes.memset(self.room, 0, ROOM_BYTES)
        arguments = [self.other_argument(kind, number) for kind in kinds]
        if "*" in kinds[place]:
            arguments[place] = (ctypes.c_uint64 * 64)(*[value & (2**64 - 1)] * 64)
        else:
            arguments[place] = value
        result = getattr(self.cuda, name)(*map(argument, arguments))
        self.cuda.cuCtxSetCurrent(argument(self.objects.context))
        return result

    def places(self, kinds):
        """Where there is a handle, or an array of them to read."""
        for place, kind in enumerate(kinds):
            plain = kind.replace("const ", "").rstrip("*")
            is_array = kind.startswith("const ") and kind.count("*") == 1
            if self.is_object(plain) and ("*" not in kind or is_array):
                yield place, plain


def is_fine(name, kind, what):
    """Whether such a call may succeed."""
    for functions, wanted, values in FINE:
        if kind == wanted and re.fullmatch(rf"({functions})(_v\d+)?(_pt(sz|ds))?", name):
            if re.fullmatch(values, what):
                return True
    return False


def child(library, prototypes, first):
    """Makes the calls from function number `first` on; says each before it, and what is wrong."""
    cuda = ctypes.CDLL(library)
    caller = Caller(cuda, Objects(cuda))
    out = sys.stdout
    for index, (name, kinds) in enumerate(read_prototypes(prototypes).items()):
        if index < first:
            continue
        for place, kind in caller.places(kinds):
            for what, value in caller.wrong_values(kind):
                for number in (0, 1):
                    bits = value & (2**64 - 1)
                    call = f"{name}: argument {place} {what} 0x{bits:x}, rest {number}"
                    print(f"at {index} {call}", file=out, flush=True)
                    result = caller.call(name, kinds, place, value, number)
                    if result == CUDA_SUCCESS and not is_fine(name, kind, what):
                        print(f"wrong {call}: CUDA_SUCCESS", file=out, flush=True)
    print("done", file=out, flush=True)


def main():
    library, prototypes = sys.argv[1:3]
    if len(sys.argv) > 3:
        child(library, prototypes, int(sys.argv[3]))
        return 0
    first, wrong, calls = 0, [], 0
    while True:
        words = [sys.executable, sys.argv[0], library, prototypes, str(first)]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        last = ""
        for line in process.stdout:
            last = line.strip()
            calls += last.startswith("at ")
            if last.startswith("wrong "):
                wrong.append(last[6:])
        code = process.wait()
        if last == "done":
            break
        if not last.startswith(("at ", "wrong ")):
            sys.exit(f"the calls ended before the first: {last} {code}")
        if last.startswith("wrong "):
            sys.exit(f"ended between calls: {last} {code}")
        _, index, what = last.split(" ", 2)
        wrong.append(f"{what}: the process ended, {code}")
        first = int(index) + 1
    print("\n".join([*wrong, f"{calls} calls, {len(wrong)} wrong"]))
    return int(bool(wrong) or calls < 10000)


if __name__ == "__main__":
    sys.exit(main())
