"""kernelmill check --tool streams: work that nothing orders, and sound twins."""

import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from tool import Case  # noqa: E402

KERNELS = """
#define KERNEL extern "C" __global__ void
#define I (blockIdx.x * blockDim.x + threadIdx.x)
KERNEL put(int* a, int* b) { a[I] = I; }
KERNEL get(int* a, int* b) { b[I] = a[I]; }
KERNEL count(int* a, int* b) { atomicAdd(&a[I % 4], 1); }
KERNEL even(int* a, int* b) { if (I % 2 == 0) a[I] = 1; }
KERNEL odd(int* a, int* b) { if (I % 2 != 0) a[I] = 1; }
KERNEL slow(int* a, int* b) {
  int n = 0;
  for (int k = 0; k < 20000; ++k) n += a[(I + k) % 512];
  b[I] = n;
}
__device__ int shared_variable[512];
KERNEL put_variable(int* a, int* b) { shared_variable[I] = I; }
KERNEL get_variable(int* a, int* b) { b[I] = shared_variable[I]; }
KERNEL tell_host(int* a, int* b) {
  a[I] = I;
  __threadfence_system();
  if (I == 0) *(volatile int*)b = 1;
}
KERNEL hand_over(int* a, int* b) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    a[4] = 1;
    __threadfence();
    atomicExch(&b[0], 1);
  }
}
KERNEL take_over(int* a, int* b) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    while (atomicAdd(&b[0], 0) == 0) {}
    __threadfence();
    a[4] += 1;
  }
}
"""

# Words: s and t are streams that are not ordered with the legacy stream, u and v are, 0 is the
# legacy stream. All of memory a, b and p (page-locked) has 4096 bytes.
PROGRAM = '''
import ctypes, sys, threading
cuda = ctypes.CDLL("libcuda.so.1")
P, U64, SIZE = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t
def call(name, *words):
    status = getattr(cuda, name)(*words)
    assert status == 0, (name, status)
def made(kind, name, *words):
    out = kind()
    call(name, ctypes.byref(out), *words)
    return out
call("cuInit", 0)
call("cuCtxSetCurrent", made(P, "cuDevicePrimaryCtxRetain", 0))
module = made(P, "cuModuleLoad", b"kernels.ptx")
kernels = {}
def kernel(name):
    if name not in kernels:
        kernels[name] = made(P, "cuModuleGetFunction", module, name.encode())
    return kernels[name]
def launch(stream, name, a, b):
    words = (P * 2)(*[ctypes.addressof(each) for each in (a, b)])
    call("cuLaunchKernel", kernel(name), 4, 1, 1, 128, 1, 1, 0, stream, words, None)
def fill(stream, a, n=4096): call("cuMemsetD8Async", a, 0, SIZE(n), stream)
def copy(stream, to, a, n=4096): call("cuMemcpyDtoDAsync_v2", to, a, SIZE(n), stream)
def up(stream, a, host, n=4096): call("cuMemcpyHtoDAsync_v2", a, host, SIZE(n), stream)
def down(stream, host, a, n=4096): call("cuMemcpyDtoHAsync_v2", host, a, SIZE(n), stream)
def sync(stream): call("cuStreamSynchronize", stream)
def poll(stream):
    while cuda.cuStreamQuery(stream) == 600: pass
def event(): return made(P, "cuEventCreate", 2)
def record(e, stream): call("cuEventRecord", e, stream)
def wait(stream, e): call("cuStreamWaitEvent", stream, e, 0)
def order(first, second):
    e = event()
    record(e, first)
    wait(second, e)
s, t = made(P, "cuStreamCreate", 1), made(P, "cuStreamCreate", 1)
u, v = made(P, "cuStreamCreate", 0), made(P, "cuStreamCreate", 0)
a, b, c, d = [made(U64, "cuMemAlloc_v2", SIZE(4096)) for _ in range(4)]
p = made(P, "cuMemHostAlloc", SIZE(4096), 0)
host = ctypes.create_string_buffer(4096)
own = P(2)
for each in (a, b, c, d): call("cuMemsetD8_v2", each, 0, SIZE(4096))
def at(address, offset): return U64(address.value + offset)
call("cuCtxSynchronize")
exec(sys.argv[1])
call("cuCtxSynchronize")
'''

DEFECTS = {
    "kernels": ("write-read", "launch(s, 'put', a, b); launch(t, 'get', a, b)"),
    "kernels the other way": ("read-write", "launch(s, 'get', a, b); launch(t, 'put', a, c)"),
    "two writes": ("write-write", "launch(s, 'put', a, b); launch(t, 'put', a, b)"),
    "atomics and a read": ("write-read", "launch(s, 'count', a, b); launch(t, 'get', a, b)"),
    "a fill": ("write-write", "launch(s, 'put', a, b); fill(t, a)"),
    "a copy": ("write-read", "launch(s, 'put', a, b); copy(t, c, a)"),
    "a copy to the host": ("write-read", "launch(s, 'put', a, b); down(t, p, a)"),
    "a copy to pageable memory": ("write-read", "launch(s, 'put', a, b); down(t, host, a)"),
    "page-locked memory": ("write-read", "down(s, p, a); up(t, b, p)"),
    "one byte": ("write-write", "fill(s, a, 101); fill(t, at(a, 100), 100)"),
    "a slow kernel first": ("read-write", "launch(s, 'slow', a, b); launch(t, 'put', a, c)"),
    "an event before": ("write-read", "e = event(); record(e, s); launch(s, 'put', a, b)\n"
                        "wait(t, e); launch(t, 'get', a, b)"),
    "an event of another stream": ("write-read", "launch(s, 'put', a, b); order(u, t)\n"
                                   "launch(t, 'get', a, b)"),
    "a wait for another stream": ("write-read", "launch(s, 'put', a, b); sync(u)\n"
                                  "launch(t, 'get', a, b)"),
    "the legacy stream": ("write-read", "launch(None, 'put', a, b); launch(s, 'get', a, b)"),
    "per-thread streams": ("write-read", "launch(own, 'put', a, b); launch(s, 'get', a, b)"),
    "blocking streams": ("write-read", "launch(u, 'put', a, b); launch(v, 'get', a, b)"),
    "rows": ("write-write", "call('cuMemsetD2D8Async', a, SIZE(64), 0, SIZE(8), SIZE(4), s)\n"
             "fill(t, at(a, 64), 1)"),
    "a variable": ("write-read", "launch(s, 'put_variable', a, b)\n"
                   "launch(t, 'get_variable', a, b)"),
    "managed memory": ("write-write",
                       "m = made(U64, 'cuMemAllocManaged', SIZE(4096), 1)\n"
                       "launch(s, 'put', m, b); launch(t, 'put', m, b)"),
    "memory of a pool": ("write-write",
                         "m = made(U64, 'cuMemAllocAsync', SIZE(4096), s)\n"
                         "launch(s, 'put', m, b); launch(t, 'put', m, b)"),
    "threads": ("write-write",
                "def work(stream): call('cuCtxSetCurrent', made(P, 'cuDevicePrimaryCtxRetain', 0));"
                " launch(stream, 'put', a, b)\n"
                "all = [threading.Thread(target=work, args=(each,)) for each in (s, t)]\n"
                "for each in all: each.start()\n"
                "for each in all: each.join()"),
    "one kernel fences": ("write-write", "launch(s, 'hand_over', a, b); launch(t, 'put', a, b)"),
    "another value": ("write-read",
                      "launch(s, 'put', a, b)\n"
                      "call('cuStreamWriteValue32_v2', u, at(c, 64), 1, 0)\n"
                      "call('cuStreamWaitValue32_v2', t, at(c, 64), 1, 0)\n"
                      "launch(t, 'get', a, b)"),
}

SOUND = {
    "one stream": "launch(s, 'put', a, b); launch(s, 'get', a, b); fill(s, a)",
    "reads": "launch(s, 'get', a, b); launch(t, 'get', a, c)",
    "an event": "launch(s, 'put', a, b); order(s, t); launch(t, 'get', a, b)",
    "an event with a time": "launch(s, 'put', a, b); e = made(P, 'cuEventCreate', 0)\n"
                            "record(e, s); wait(t, e); launch(t, 'get', a, b)",
    "an event of the stream before": "launch(s, 'put', a, b); order(s, u); order(u, t); fill(t, a)",
    "a stream that was waited for": "launch(s, 'put', a, b); sync(s); launch(t, 'get', a, b)",
    "a stream that was asked": "launch(s, 'put', a, b); poll(s); launch(t, 'get', a, b)",
    "an event that was waited for":
        "launch(s, 'put', a, b); e = event(); record(e, s); call('cuEventSynchronize', e)\n"
        "launch(t, 'get', a, b)",
    "an event that was asked":
        "launch(s, 'put', a, b); e = event(); record(e, s)\n"
        "while cuda.cuEventQuery(e) == 600: pass\n"
        "launch(t, 'get', a, b)",
    "a context that was waited for":
        "launch(s, 'put', a, b); call('cuCtxSynchronize'); launch(t, 'get', a, b)",
    "the legacy stream after": "launch(u, 'put', a, b); launch(None, 'get', a, b)",
    "the legacy stream before": "launch(None, 'put', a, b); launch(u, 'get', a, b)",
    "the legacy stream between": "launch(u, 'put', a, b); fill(None, c); launch(v, 'get', a, b)",
    "the legacy stream and a thread's": "launch(own, 'put', a, b); launch(None, 'get', a, b)",
    "other memory": "launch(s, 'put', a, b); launch(t, 'put', b, a)",
    "other bytes": "fill(s, a, 101); fill(t, at(a, 101), 100)",
    "every other word": "launch(s, 'even', a, b); launch(t, 'odd', a, b)",
    "atomics": "launch(s, 'count', a, b); launch(t, 'count', a, b)",
    "rows": "call('cuMemsetD2D8Async', a, SIZE(64), 0, SIZE(8), SIZE(4), s)\n"
            "fill(t, at(a, 8), 56)",
    "page-locked memory": "down(s, p, a); order(s, t); up(t, b, p)",
    "a call that waits": "launch(u, 'put', a, b)\n"
                         "call('cuMemcpyDtoH_v2', host, a, SIZE(4096)); launch(s, 'put', a, b)",
    "a fill that waits": "call('cuMemsetD8_v2', a, 0, SIZE(4096)); launch(s, 'put', a, b)",
    "a copy to pageable memory":
        "launch(s, 'put', a, b); down(s, host, a); launch(t, 'put', a, b)",
    "a host function":
        "F = ctypes.CFUNCTYPE(None, P); done = threading.Event(); f = F(lambda _: done.set())\n"
        "launch(s, 'put', a, b); call('cuLaunchHostFunc', s, f, None); done.wait()\n"
        "launch(t, 'get', a, b)",
    "a host function that waits":
        "F = ctypes.CFUNCTYPE(None, P); done = threading.Event(); f = F(lambda _: done.wait())\n"
        "launch(s, 'put', a, b); call('cuLaunchHostFunc', t, f, None); launch(t, 'get', a, b)\n"
        "sync(s); done.set()",
    "a value":
        "call('cuStreamWaitValue32_v2', t, c, 1, 0); launch(t, 'get', a, b)\n"
        "launch(s, 'put', a, b); call('cuStreamWriteValue32_v2', s, c, 1, 0)",
    "memory of a pool":
        "m = made(U64, 'cuMemAllocAsync', SIZE(4096), s); launch(s, 'put', m, b)\n"
        "call('cuMemFreeAsync', m, s); sync(s)\n"
        "m = made(U64, 'cuMemAllocAsync', SIZE(4096), t); launch(t, 'put', m, b)",
    "memory that was freed":
        "for stream in (s, t, u, v):\n"
        "    m = made(U64, 'cuMemAlloc_v2', SIZE(4096)); launch(stream, 'put', m, b)\n"
        "    call('cuMemFree_v2', m)",
    "a thread for each stream":
        "lock = threading.Lock()\n"
        "def work(stream):\n"
        "    call('cuCtxSetCurrent', made(P, 'cuDevicePrimaryCtxRetain', 0))\n"
        "    with lock: launch(stream, 'put', a, b); sync(stream)\n"
        "all = [threading.Thread(target=work, args=(each,)) for each in (s, t, u, v)]\n"
        "for each in all: each.start()\n"
        "for each in all: each.join()",
    "a kernel that tells the host":
        "launch(s, 'tell_host', a, p)\n"
        "while ctypes.cast(p, ctypes.POINTER(ctypes.c_int))[0] != 1: pass\n"
        "launch(t, 'get', a, b)",
    "kernels that meet": "launch(t, 'take_over', a, b); launch(s, 'hand_over', a, b)",
    "streams that come and go":
        "for _ in range(100):\n"
        "    m = made(P, 'cuStreamCreate', 1); fill(m, a); sync(m); call('cuStreamDestroy_v2', m)",
    "a stream that is gone":
        "fill(s, a); e = event(); record(e, s); call('cuStreamDestroy_v2', s)\n"
        "wait(t, e); launch(t, 'get', a, b)",
}

# Graphs by capture: one of two branches that write a, and what comes after.
CAPTURE = """
call("cuStreamBeginCapture_v2", s, 1)
fill(s, b)
order(s, t)
launch(s, 'put', a, b)
{second}
order(t, s)
{after}
g = made(P, "cuStreamEndCapture", s)
"""
CAPTURE = CAPTURE.replace('g = made(P, "cuStreamEndCapture", s)', '''g = P()
call("cuStreamEndCapture", s, ctypes.byref(g))
x = made(P, "cuGraphInstantiateWithFlags", g, U64(0))
call("cuGraphLaunch", x, u)''')


def captured(second="launch(t, 'get', c, b)", after="", end=""):
    return CAPTURE.format(second=second, after=after) + end


DEFECTS["branches of a graph"] = ("write-read", captured("copy(t, c, a)"))
DEFECTS["a graph and a stream"] = ("write-read", captured(end="launch(t, 'get', a, d)"))
SOUND["branches of a graph"] = captured(after="launch(s, 'get', a, b)")
SOUND["a graph and its stream"] = captured(end="launch(u, 'get', a, b)")
SOUND["a graph and a stream"] = captured(end="order(u, t); launch(t, 'get', a, b)")
SOUND["a graph that runs again"] = captured(end='call("cuGraphLaunch", x, u)')


class Streams(Case):
    """Each program under the checker."""

    ptx = None

    def setUp(self):
        super().setUp()
        self.write("kernels.cu", KERNELS)
        if Streams.ptx is None:
            self.good("compile", "kernels.cu", "-o", "kernels.ptx", "--nvrtc=-lineinfo")
            Streams.ptx = self.read("kernels.ptx")
        self.write("kernels.ptx", Streams.ptx)

    def check(self, steps, *options):
        result = self.run_tool("check", "--tool", "streams", "--json", "found.json", *options,
                               "--", sys.executable, "-c", PROGRAM, steps)
        self.assertIn(result.returncode, (0, 1), result.stderr)
        self.assertNotIn("Traceback", result.stderr)
        return json.loads(self.read("found.json"))["findings"], result

    def test_defects(self):
        for name, (kind, steps) in DEFECTS.items():
            with self.subTest(program=name):
                findings, result = self.check(steps)
                self.assertEqual([(each["tool"], each["kind"]) for each in findings],
                                 [("streams", kind)], result.stderr)
                self.assertEqual(result.returncode, 1)

    def test_sound_programs(self):
        for name, steps in SOUND.items():
            with self.subTest(program=name):
                findings, result = self.check(steps)
                self.assertEqual(findings, [], result.stderr)
                self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_finding_names_both_sides(self):
        findings, result = self.check("launch(s, 'put', a, b); down(t, p, at(a, 1024), 64)")
        found, line = findings[0], KERNELS[:KERNELS.index("KERNEL put")].count("\n") + 1
        self.assertEqual((found["kernel"], found["bytes"]), ("put", 64))
        self.assertEqual(found["access"], "read of 64 bytes")
        self.assertRegex(found["work"], r"^a copy to the host in stream \d+$")
        self.assertEqual(found["other"]["access"], "write of 64 bytes")
        self.assertRegex(found["other"]["work"], r"^kernel put in stream \d+$")
        self.assertEqual(found["other"]["line"], line)
        self.assertIn("1024 bytes into the 4096-byte allocation", found["allocation"])
        self.assertIn("cudaStreamWaitEvent", found["advice"])
        for text in ("streams: two streams access the same memory without an order between them",
                     "  without an order after a write of 64 bytes by kernel put in stream ",
                     "1 finding, 1 of streams"):
            self.assertIn(text, result.stderr)

    def test_findings_are_folded(self):
        findings, _ = self.check("for _ in range(5): launch(s, 'put', a, b); fill(t, a)")
        self.assertEqual({each["kind"] for each in findings}, {"write-write"})
        self.assertLessEqual(len(findings), 2)

    def test_other_forms(self):
        steps = "launch(s, 'put', a, b); fill(t, a)"
        _, result = self.check(steps, "--sarif", "found.sarif")
        self.assertEqual(result.returncode, 1)
        text = json.loads(self.read("found.sarif"))["runs"][0]["results"][0]["message"]["text"]
        self.assertIn("write of 2048 bytes by a fill in stream", text)
        _, result = self.check(steps, "--format", "compute-sanitizer")
        self.assertIn("two streams access the same memory", result.stdout)

    def test_other_tools_do_not_look_at_streams(self):
        result = self.run_tool("check", "--tool", "memory,init,race,sync", "--", sys.executable,
                               "-c", PROGRAM, "launch(s, 'put', a, b); fill(t, a)")
        self.assertEqual(result.returncode, 0, result.stderr)


if __name__ == "__main__":
    unittest.main()
