"""kernelmill check and KM_CHECK: kernels with one defect each, and their sound twins."""

import json
import os
import re
import signal
import subprocess
import sys
import unittest

from tool import SOURCE_DIR, TOOL, Case


def read_kernels():
    """All files of kernels as one text, the macros first."""
    folder = os.path.join(SOURCE_DIR, "tests/data/check_kernels")
    names = sorted(os.listdir(folder), key=lambda name: (name != "macros.cuh", name))
    text = ""
    for name in names:
        with open(os.path.join(folder, name), encoding="utf-8") as source:
            text += source.read()
    return text


KERNELS = read_kernels()
NAMES = re.findall(r"^KERNEL (\w+)\(", KERNELS, re.MULTILINE)
ARRAYS = ("--arg", "zeros:i32[1024]", "--arg", "zeros:i32[1024]", "--arg", "i32:512")


INLINED = """
__forceinline__ __device__ void put(int* a) { a[threadIdx.x] = 1; }
__forceinline__ __device__ void put_all(int* a) { put(a); }
extern "C" __global__ void kernel(int* a) { put_all(a);
  put_all(a + 32); }
"""

STACK_PTX = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry stack(.param .u64 out) {
  .reg .u32 %r;
  .reg .u64 %at, %block;
  .reg .pred %q;
  ld.param.u64 %at, [out];
  mov.u32 %r, %tid.x;
  setp.gt.u32 %q, %r, 20;
  mov.u64 %block, %at;
  @%q alloca.u64 %block, 800;
  @%q st.u64 [%block], %at;
  mad.wide.u32 %at, %r, 4, %at;
  st.global.u32 [%at], %r;
  ret;
}
"""

CLUSTERS = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
template <bool meets> __device__ void neighbours(int* a, int* b) {
  __shared__ int s[128];
  const cg::cluster_group cluster = cg::this_cluster();
  for (int round = 0; round < 2; ++round) {
    s[threadIdx.x] = a[threadIdx.x];
    if (meets) cluster.sync(); else __syncthreads();
    b[blockIdx.x * 128 + threadIdx.x] =
        cluster.map_shared_rank(s, 1 - cluster.block_rank())[threadIdx.x];
    cluster.sync();
  }
}
extern "C" __global__ void __cluster_dims__(2) race_cluster(int* a, int* b, int) {
  neighbours<false>(a, b);
}
extern "C" __global__ void __cluster_dims__(2) sound_race_cluster(int* a, int* b, int) {
  neighbours<true>(a, b);
}
"""


class Kernels(Case):
    """Each kernel of tests/data/check_kernels, by its name."""

    @classmethod
    def setUpClass(cls):
        cls.ptx = None

    def setUp(self):
        super().setUp()
        self.write("kernels.cu", KERNELS)
        if Kernels.ptx is None:
            self.good("compile", "kernels.cu", "-o", "kernels.ptx", "--arch", "90",
                      "--nvrtc=-lineinfo")
            Kernels.ptx = self.read("kernels.ptx")
        self.write("kernels.ptx", Kernels.ptx)

    def findings(self, kernel, tools="all"):
        """(tool, kind) of what is found in one kernel, by KM_CHECK_REPORT."""
        self.write("told", "")
        result = self.run_tool("run", "kernels.ptx", "--kernel", kernel, "--grid", "4", "--block",
                               "128", "-q", "--device", "cpu", *ARRAYS,
                               env={"KM_CHECK": tools, "KM_CHECK_REPORT": self.path("told"),
                                    # The usual order, in which luck holds for schedule_X.
                                    "KM_CPU_THREADS": "1" if "schedule" in kernel else "2"})
        has_end = "without_end" not in kernel
        self.assertEqual(result.returncode, 0 if has_end else 1, kernel + ": " + result.stderr)
        told = [line.split("\x1f") for line in self.read("told").decode().splitlines()]
        for fields in told:
            self.assertIn(fields[0], ("finding", "count", "orders"))
            if fields[0] == "finding":
                self.assertEqual(fields[5], kernel)
                self.assertIn("check: " + fields[3] + ": ", result.stderr)
        return {(fields[3], fields[4]) for fields in told if fields[0] == "finding"}

    def test_every_defect_has_a_sound_twin(self):
        self.assertGreaterEqual(len(NAMES), 100)
        self.assertEqual(len(NAMES), len(set(NAMES)))

    def test_kernels(self):
        for name in NAMES:
            with self.subTest(kernel=name):
                tools = {tool for tool, _ in self.findings(name)}
                wanted = name.split("_")[0].replace("schedule", "sound")
                # A thread that is too early may also read what the other has not written yet.
                extra = {"init"} if wanted == "race" else set()
                self.assertEqual(tools - extra, set() if wanted == "sound" else {wanted})

    def test_time_limit_is_a_finding_of_sync(self):
        self.write("k.cu", 'extern "C" __global__ void k(int* all) { atomicAdd(all, 1); '
                           "while (*(volatile int*)all != 3); }")
        command = ("run", "k.cu", "--grid", "2", "-q", "--device", "cpu", "--arg", "zeros:i32[1]",
                   "--check-json", "k.json", "--check")
        env = {"KM_KERNEL_TIMEOUT_MS": "300"}
        self.bad(1, *command, "memory", env=env)
        self.assertEqual(json.loads(self.read("k.json"))["findings"], [])
        message = self.bad(1, *command, "sync", env=env)
        self.assertIn("has not ended after its time limit of 300 ms", message)
        found, = json.loads(self.read("k.json"))["findings"]
        self.assertEqual((found["tool"], found["kind"], found["kernel"]), ("sync", "no-end", "k"))
        self.assertIn("k.cu:1", found["position"])
        self.bad(1, *command, "sync", "--check-format", "compute-sanitizer", "--check-log-file",
                 "log", env=env)
        self.assertIn(b"Program hit no-end: the launch has not ended", self.read("log"))

    def test_kernel_memory_names_the_line_that_allocates(self):
        for kernel, lines, work, remedy in (("leak_of_malloc", 2, "malloc or new", "delete"),
                                            ("leak_of_cudamalloc", 3, "cudaMalloc", "cudaFree()")):
            with self.subTest(kernel=kernel):
                self.findings(kernel, "leak")
                told = self.read("told").decode().splitlines()[0].split("\x1f")
                line = KERNELS[:KERNELS.index(f"KERNEL {kernel}(")].count("\n") + lines
                self.assertEqual(told[3:6], ["leak", "kernel-memory", kernel])
                self.assertIn("2048 bytes in 256 blocks", told[6])
                self.assertIn(remedy, told[8])
                self.assertIn(work, "|".join(told))
                self.assertIn(f"kernels.cu:{line}", told[12])

    def test_a_race_names_both_accesses(self):
        self.findings("race_missing_barrier", "race")
        told = self.read("told").decode().splitlines()[0].split("\x1f")
        line = KERNELS[:KERNELS.index("b[I] = s[127 - T]")].count("\n") + 1
        self.assertEqual(told[3:6], ["race", "write-read", "race_missing_barrier"])
        self.assertTrue(told[11].startswith("read of 4 bytes"), told)
        self.assertIn(f"kernels.cu:{line}", told[12])
        self.assertTrue(told[16].startswith("write"), told)
        self.assertIn(f"kernels.cu:{line - 1}", told[17])
        self.assertIn("__syncthreads()", told[8])

    def test_guarded_parts_of_the_stack_are_defined(self):
        """Code of our own for `alloca` tests only registers that it has written."""
        self.write("stack.ptx", STACK_PTX)
        result = self.good("run", "stack.ptx", "--device", "cpu", "--block", "32", "-q", "--arg",
                           "zeros:i32[32]", "--check", "init")
        self.assertEqual(result.stderr, "kernelmill check: 0 findings\n")

    def test_writes_of_one_value(self):
        self.assertEqual(self.findings("sound_race_same_value", "racecheck"), set())
        self.assertEqual(self.findings("sound_race_same_value", "race,same-value"),
                         {("race", "same-value-write")})

    def test_lanes_in_step(self):
        """What counts on a warp in step is accepted, and what races then too is not."""
        for kernel in ("race_lanes_in_step", "race_volatile_lanes_in_step",
                       "race_reduction_in_step", "race_fenced_lanes_in_step"):
            self.assertIn(("race", "write-read"), self.findings(kernel, "race"), kernel)
            self.assertEqual(self.findings(kernel, "race,warp-in-step"), set(), kernel)
        for kernel, kind in (("race_lanes_write_one_place", "write-write"),
                             ("race_missing_barrier", "write-read")):
            self.assertIn(("race", kind), self.findings(kernel, "race,warp-in-step"), kernel)

    def test_the_advice_names_the_line(self):
        self.findings("race_lanes_in_step", "race")
        told = self.read("told").decode().splitlines()[0].split("\x1f")
        line = KERNELS[:KERNELS.index("b[I] = s[T ^ 1]")].count("\n")
        self.assertRegex(told[8], "__syncwarp\\(\\) between the two orders them, such as after "
                         rf".*kernels\.cu:{line}\b")

    def test_code_for_lanes_in_step_runs_right(self):
        """Packets have all lanes of a warp then, whatever suits the kernel."""
        sums = ["73664" if block < 4 else "0" for block in range(1024)]
        warps = [str(32 * 512 + 496 + 1024 * (thread // 32 % 4)) for thread in range(512)]
        for tools in ("warp-in-step", "race,warp-in-step", "all,warp-in-step"):
            for mode in "abc":
                env = {"KM_CHECK": tools, "KM_CPU_MODE": mode}
                for kernel, results in (("race_reduction_in_step", sums),
                                        ("race_fenced_lanes_in_step", warps + ["0"] * 512)):
                    result = self.good("run", "kernels.ptx", "--kernel", kernel, "--grid", "4",
                                       "--block", "128", "-q", "--device", "cpu", "--arg",
                                       "zeros:i32[1024]", "--arg", "out:-:i32[1024]", "--arg",
                                       "i32:512", env=env)
                    self.assertEqual((result.stdout.split(), result.stderr), (results, ""))

    def test_results_that_depend_on_the_order(self):
        """One seed in eight shows each, where the usual order has no finding."""
        kinds = {"schedule_float_sum": "atomic-order", "schedule_trap": "fault",
                 "schedule_two_locks": "no-end"}
        for name in NAMES:
            if name.startswith("schedule_"):
                more = {("memory", "illegal-address")} if "outside" in name else set()
                self.assertEqual(self.findings(name, "all,explore=8"),
                                 {("schedule", kinds.get(name, "result"))} | more, name)
        self.assertEqual(
            self.findings("schedule_float_sum", "explore=8,ignore-atomic-order"), set())

    def test_stores_are_seen_late(self):
        """Up to the next fence; a flag without one before it shows what memory had."""
        for kernel in ("race_flag", "race_relaxed_flag"):
            self.assertEqual(self.findings(kernel, "explore=8"), {("schedule", "result")}, kernel)

    def test_loads_see_old_values(self):
        """Until the next fence of the thread that loads."""
        kernel = "race_reader_without_fence"
        self.assertEqual(self.findings(kernel, "explore=8"), {("schedule", "result")})

    def test_sound_kernels_do_not_depend_on_the_order(self):
        """But for two that store what an atomic or a volatile variable just has."""
        of_luck = {"sound_race_atomic_and_plain_read", "sound_race_owner_reads_plainly"}
        for name in NAMES:
            if name.startswith("sound_"):
                wanted = {("schedule", "result")} if name in of_luck else set()
                self.assertEqual(self.findings(name, "memory,explore=8"), wanted, name)

    def in_order(self, kernel, tools):
        """What a kernel writes in one thread, whose usual order is always the same, and what is
        said."""
        result = self.good("run", "kernels.ptx", "--kernel", kernel, "--grid", "4", "--block",
                           "128", "-q", "--device", "cpu", "--arg", "zeros:i32[1024]", "--arg",
                           "out:-:i32[1024]", "--arg", "i32:512",
                           env={"KM_CHECK": tools, "KM_CPU_THREADS": "1"})
        return result.stdout.split(), result.stderr

    def test_a_seed_gives_one_order(self):
        for kernel in ("schedule_tickets", "schedule_tickets_of_a_block"):
            usual, _ = self.in_order(kernel, "memory")
            orders = set()
            for seed in range(1, 17):
                now, text = self.in_order(kernel, f"seed={seed}")
                self.assertEqual((now, text), self.in_order(kernel, f"seed={seed}"))
                self.assertEqual(sorted(now), sorted(usual))
                orders.add(tuple(now))
            self.assertGreater(len(orders), 10)
            self.assertNotIn(tuple(usual), orders)

    def test_a_seed_repeats_a_difference(self):
        usual, _ = self.in_order("schedule_last_writer", "memory")
        now, text = self.in_order("schedule_last_writer", "explore=8")
        self.assertEqual(now, usual)  # memory keeps the result of the usual order
        seed, there, here = re.search(r"with seed (\d+), 0x\w+ \((\d+)\) as usual(.*)",
                                      text).groups()
        self.assertEqual(there, usual[0])
        self.assertIn("2 bytes differ", here)
        again, text_again = self.in_order("schedule_last_writer", f"explore=1,seed={seed}")
        self.assertEqual((again, self.without_addresses(text_again)),
                         (usual, self.without_addresses(text)))
        alone, _ = self.in_order("schedule_last_writer", f"seed={seed}")
        self.assertIn(f"({alone[0]}) with seed {seed}", text)

    @staticmethod
    def without_addresses(text):
        return re.sub(r"0x7\w+", "", text)

    def test_a_kernel_goes_on_after_a_finding(self):
        words = ("run", "kernels.ptx", "--kernel", "memory_indirect", "--grid", "4", "--block",
                 "128", "-q", "--device", "cpu", "--arg", "zeros:i32[1024]", "--arg",
                 "out:-:i32[1024]", "--arg", "i32:512")
        result = self.good(*words, env={"KM_CHECK": "memory"})
        self.assertEqual(result.stdout.split(), ["0"] * 1024)
        self.assertIn("4190208 bytes past the end of the 4096-byte allocation", result.stderr)
        self.assertIn("thread (77,0,0) of block (0,0,0)", result.stderr)

    def test_shared_memory_of_a_cluster(self):
        self.write("cluster.cu", CLUSTERS)
        self.good("compile", "cluster.cu", "-o", "kernels.ptx", "--arch", "90",
                  "--nvrtc=-lineinfo")
        self.assertEqual(self.findings("sound_race_cluster"), set())
        self.assertIn(("race", "write-read"), self.findings("race_cluster", "race"))
        told = self.read("told").decode().splitlines()[0].split("\x1f")
        self.assertEqual(told[6], "threads of different blocks access shared memory without an "
                                  "order between them")
        self.assertIn("barrier of the cluster", told[8])

    def test_run_looks_for_defects(self):
        words = ("run", "kernels.ptx", "--kernel", "memory_misaligned", "--grid", "4", "--block",
                 "128", "--device", "cpu", *ARRAYS)
        result = self.run_tool(*words, "--check", "memory", "--check-json", "found.json")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("kernelmill check: 1 finding, 1 of memory\n", result.stderr)
        self.assertIn("kernel   ", result.stderr)  # its times
        findings = json.loads(self.read("found.json"))["findings"]
        self.assertEqual([(each["kind"], each["count"]) for each in findings],
                         [("misaligned-address", 4 * 64)])
        sound = [word.replace("memory_misaligned", "sound_race_flag") for word in words]
        result = self.run_tool(*sound, "--check=race", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(result.stdout)["kernel"], "sound_race_flag")
        self.assertIn("kernelmill check: 0 findings\n", result.stderr)
        self.assertIn("'luck' is no tool", self.bad(2, *words, "--check", "luck"))
        for option, value in (("", ""), ("-json", ""), ("-sarif", ""), ("-limit", "-1"),
                              ("-limit", "9" * 30), ("-explore", "0"), ("-explore", "1e9"),
                              ("-schedule-seed", str(2 ** 64))):
            message = self.bad(2, *words, *(["--check=race"] if option else []),
                               f"--check{option}", value)
            self.assertIn(f"--check{option}: ", message)
        message = self.bad(1, "run", "missing.kmo", "--check", "all")
        self.assertIn("'missing.kmo'", message)
        self.assertNotIn("findings", message)
        self.assertIn("--check-json is for --check", self.bad(2, *words, "--check-json", "x"))
        same = [word.replace("memory_misaligned", "sound_race_same_value") for word in words]
        self.assertEqual(self.run_tool(*same, "--check", "race").returncode, 0)
        result = self.run_tool(*same, "--check", "race", "--check-same-value",
                               "--check-error-exit", "7")
        self.assertEqual(result.returncode, 7, result.stderr)
        self.assertIn("same-value-write", result.stderr)

    def test_content_of_tensor_memory_is_compared(self):
        path = os.path.join(SOURCE_DIR, "tests/data/check_tensor_memory.ptx")
        copies = ("load_boxes", "--arg", "zeros:u8[128]", "--arg", "zeros:u32[64]", "--arg")
        for words, status in ((("equal_addresses",), 0), (("other_addresses",), 1),
                              ((*copies, "u32:0"), 0), ((*copies, "u32:32"), 1)):
            result = self.run_tool("run", path, "--kernel", *words, "--block", "64", "--device",
                                   "cpu", "--check", "memory,init,race", env={"KM_CPU_CC": "10.0"})
            self.assertEqual(result.returncode, status, result.stderr)

    def test_run_has_all_options_of_check(self):
        options = {}
        for command in ("check", "exec", "run"):
            text = self.good(command, "--help").stdout
            options[command] = set(re.findall(r"^  (?:-\w,)?--([\w-]+)", text, re.M))
        own = {name[6:] for name in options["run"] if name.startswith("check-")}
        self.assertEqual(own, options["check"] - options["exec"] - {"tool"})

    def test_faults_are_findings(self):
        """Assertions and traps end the launch; accesses by a null pointer do not."""
        self.write("faults.cu", FAULTS)
        for kernel, kind, has_end in (("asserts", "assertion", False), ("traps", "trap", False),
                                      ("null", "illegal-address", True)):
            with self.subTest(kernel=kernel):
                result = self.run_tool("run", "faults.cu", "--kernel", kernel, "--device", "cpu",
                                       "--block", "32", "--arg", "out:-:i32[32]", "--arg",
                                       "u64:0", "--check", "memory", "--check-json", "found.json")
                self.assertEqual(result.returncode, 1, result.stderr)
                findings = json.loads(self.read("found.json"))["findings"]
                self.assertEqual([(each["tool"], each["kind"], each["kernel"])
                                  for each in findings], [("memory", kind, kernel)], result.stderr)
                self.assertEqual("2\n3\n4" in result.stdout.replace(" ", "\n"), has_end,
                                 result.stdout)
                if has_end:
                    self.assertIn("dereferences a null pointer", result.stderr)
        self.good("compile", "faults.cu", "--target", "cpu", "--block", "32", "-o", "faults.kmo")
        result = self.run_tool("run", "faults.kmo", "--kernel", "null", "--device", "cpu",
                               "--block", "32", "--arg", "out:-:i32[32]", "--arg", "u64:0",
                               "--check", "memory")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("kernelmill check: 1 finding, 1 of memory\n", result.stderr)

    def test_unknown_tools_are_refused(self):
        text = self.bad(1, "run", "kernels.ptx", "--kernel", "sound_race_flag", "-q", "--device",
                        "cpu", *ARRAYS, env={"KM_CHECK": "luck"})
        self.assertIn("KM_CHECK names the tool 'luck'", text)


FAULTS = """
#include <cassert>
extern "C" __global__ void asserts(int* out, const int* none) { assert(out[threadIdx.x] == 1); }
extern "C" __global__ void traps(int* out, const int* none) { if (out[threadIdx.x] == 0) __trap(); }
extern "C" __global__ void null(int* out, const int* none) {
  out[threadIdx.x] = none[threadIdx.x] + threadIdx.x;
}
"""

INIT_PROGRAM = """
exec(open("driver.py").read())
a, b, c = memory(4096), memory(4096), memory(4096)
for step in sys.argv[1:]:
    if step == "fill": call("cuMemsetD8_v2", a, 0, 4096)
    if step == "half": call("cuMemsetD8_v2", a, 0, 1024)
    if step == "give": call("cuMemcpyHtoD_v2", a, bytes(4096), ctypes.c_size_t(4096))
    if step == "copy": call("cuMemcpyDtoD_v2", b, a, ctypes.c_size_t(4096))
    if step == "swap": a, b = b, a
    if step == "free": call("cuMemFree_v2", a); a = memory(4096)
launch("sound_race_neighbour_in_place", a, c)
call("cuCtxSynchronize")
"""

DRIVER = """
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
def call(name, *words):
    status = getattr(cuda, name)(*words)
    assert status == 0, (name, status)
def memory(size):
    address = ctypes.c_uint64()
    call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
    return address
def launch(name, a, b):
    kernel, n = ctypes.c_void_p(), ctypes.c_int(512)
    call("cuModuleGetFunction", ctypes.byref(kernel), module, name.encode())
    words = (ctypes.c_void_p * 3)(*[ctypes.addressof(word) for word in (a, b, n)])
    call("cuLaunchKernel", kernel, 4, 1, 1, 128, 1, 1, 0, None, words, None)
context, module = ctypes.c_void_p(), ctypes.c_void_p()
call("cuInit", 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
call("cuCtxSetCurrent", context)
call("cuModuleLoad", ctypes.byref(module), b"kernels.ptx")
"""

CALLS = """
exec(open("driver.py").read())
def memory(name, *more):
    address = ctypes.c_uint64()
    call(name, ctypes.byref(address), ctypes.c_size_t(4096), *more)
    return address
def refused(name, *words):
    assert getattr(cuda, name)(*words) != 0, name
size, buffer = ctypes.c_size_t, ctypes.create_string_buffer(8192)
freed = False
for step in sys.argv[1:]:
    if step == "alloc": a = memory("cuMemAlloc_v2")
    if step == "host": memory("cuMemAllocHost_v2")
    if step == "async": memory("cuMemAllocAsync", None)
    if step == "free": (refused if freed else call)("cuMemFree_v2", a); freed = True
    if step == "free-inside": refused("cuMemFree_v2", ctypes.c_uint64(a.value + 8))
    if step == "fill": refused("cuMemsetD8_v2", a, 0, size(4096))
    if step == "fill-beyond": refused("cuMemsetD8_v2", a, 0, size(4097))
    if step == "fill-null": refused("cuMemsetD8_v2", ctypes.c_uint64(0), 0, size(16))
    if step == "fill-host":
        refused("cuMemsetD8_v2", ctypes.c_uint64(ctypes.addressof(buffer)), 0, size(16))
    if step == "copy-beyond": refused("cuMemcpyHtoD_v2", a, buffer, size(8192))
    if step == "from-device": cuda.cuMemcpyHtoD_v2(a, ctypes.c_void_p(a.value), size(16))
    if step == "reset": call("cuDevicePrimaryCtxReset_v2", 0)
"""

PROGRAM = """
exec(open("driver.py").read())
a, b = memory(4096), memory(4096)
for each in (a, b): call("cuMemsetD8_v2", each, 0, 4096)
for name in sys.argv[2:]:
    for _ in range(2): launch(name, a, b)
call("cuCtxSynchronize")
sys.exit(int(sys.argv[1]))
"""

class Check(Case):
    """The command, on a program that uses the CUDA driver."""

    def setUp(self):
        super().setUp()
        self.write("kernels.cu", KERNELS)
        self.good("compile", "kernels.cu", "-o", "kernels.ptx", "--arch", "90",
                  "--nvrtc=-lineinfo")
        self.write("driver.py", DRIVER)

    def test_memory_is_undefined_until_it_is_written(self):
        """Fills, copies in and out and frees decide; a copy of what is undefined is undefined."""
        for steps, is_found in (
                ([], True), (["fill"], False), (["give"], False), (["half"], True),
                (["copy", "swap"], True), (["give", "copy", "swap"], False),
                (["half", "copy", "swap"], True), (["give", "free"], True)):
            with self.subTest(steps=steps):
                result = self.run_tool("check", "--tool", "initcheck", "--", sys.executable, "-c",
                                       INIT_PROGRAM, *steps)
                self.assertEqual(result.returncode, 1 if is_found else 0, result.stderr)
                self.assertEqual("init: a read of the memory of the context" in result.stderr,
                                 is_found)

    def check(self, *options, kernels=(), code=0):
        return self.run_tool("check", *options, "--", sys.executable, "-c", PROGRAM, str(code),
                             *kernels)

    def test_a_sound_program_keeps_its_status(self):
        for code in (0, 7):
            result = self.check(kernels=["sound_race_last_block"], code=code)
            self.assertEqual(result.returncode, code, result.stderr)
            self.assertIn("kernelmill check: 0 findings\n", result.stderr)

    def test_findings_are_folded_and_counted(self):
        result = self.check("--json", "found.json", kernels=["race_bytes", "memory_misaligned"])
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("kernelmill check: ", result.stderr)
        findings = json.loads(self.read("found.json"))["findings"]
        self.assertEqual({each["tool"] for each in findings}, {"race", "memory"})
        invalid = [each for each in findings if each["tool"] == "memory"]
        self.assertEqual(len(invalid), 1)
        self.assertEqual((invalid[0]["kind"], invalid[0]["kernel"], invalid[0]["bytes"]),
                         ("misaligned-address", "memory_misaligned", 4))
        self.assertEqual(invalid[0]["count"], 2 * 4 * 64)  # launches, blocks, odd threads
        self.assertEqual(invalid[0]["thread"], "(1,0,0)")
        self.assertTrue(invalid[0]["source"].endswith("kernels.cu"))
        race = next(each for each in findings if each["tool"] == "race")
        for key in ("access", "source", "line", "block", "thread"):
            self.assertIn(key, race["other"])

    def test_tools_are_chosen_by_either_name(self):
        kernels = ["race_bytes", "memory_misaligned"]
        for tool, other in (("race", "memory"), ("racecheck", "memory"), ("memcheck", "race")):
            result = self.check("--tool", tool, kernels=kernels)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertNotIn("check: " + other + ":", result.stderr)
        text = self.bad(2, "check", "--tool", "luck", "--", "true")
        self.assertIn("'luck' is no tool", text)

    def test_exit_status_is_as_asked(self):
        result = self.check("--error-exit", "42", kernels=["race_bytes"])
        self.assertEqual(result.returncode, 42, result.stderr)
        result = self.check("--error-exit", "0", kernels=["race_bytes"], code=5)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_sarif(self):
        result = self.check("--sarif", "found.sarif", kernels=["race_last_block"])
        self.assertEqual(result.returncode, 1, result.stderr)
        log = json.loads(self.read("found.sarif"))
        self.assertEqual(log["version"], "2.1.0")
        run = log["runs"][0]
        rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
        self.assertTrue(run["results"])
        for each in run["results"]:
            self.assertIn(each["ruleId"], rules)
            for place in each["locations"] + each["relatedLocations"]:
                place = place["physicalLocation"]
                self.assertTrue(place["artifactLocation"]["uri"].endswith("kernels.cu"))
                self.assertGreater(place["region"]["startLine"], 0)

    def test_files_in_sarif_are_uris(self):
        """Relative to the folder of the call, as GitHub wants them, or absolute."""
        os.mkdir(self.path("my kernels"))
        self.write("my kernels/a#b.cu", KERNELS)
        self.good("compile", "my kernels/a#b.cu", "-o", "kernels.ptx", "--arch", "90",
                  "--nvrtc=-lineinfo")
        text = self.read("kernels.ptx").decode()
        self.write("kernels.ptx", text.replace('"my kernels', f'"{self.folder}/my kernels'))
        for folder, uri in ((self.folder, "my%20kernels/a%23b.cu"),
                            ("/", f"file://{self.folder}/my%20kernels/a%23b.cu")):
            with self.subTest(folder=folder):
                program = f"import os; os.chdir('{self.folder}')\n" + PROGRAM
                result = subprocess.run(
                    [TOOL, "check", "--sarif", self.path("found.sarif"), "--", sys.executable, "-c",
                     program, "0", "race_last_block"], cwd=folder, capture_output=True, check=False)
                self.assertEqual(result.returncode, 1, result.stderr)
                results = json.loads(self.read("found.sarif"))["runs"][0]["results"]
                place = results[0]["locations"][0]["physicalLocation"]["artifactLocation"]
                self.assertEqual(place, {"uri": uri})

    def test_inlined_functions_name_their_calls(self):
        self.write("inlined.cu", INLINED)
        result = self.run_tool("run", "inlined.cu", "--device", "cpu", "--block", "32", "--arg",
                               "zeros:i32[16]", "--check", "memory", "--check-json", "found.json",
                               "--nvrtc=-lineinfo", "-q")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stderr, r"at inlined.cu:2 \(PTX line \d+\)\n    > .*\n"
                         r"    inlined at inlined.cu:3\n    > .*\n    inlined at inlined.cu:4\n")
        findings = json.loads(self.read("found.json"))["findings"]
        self.assertEqual([each["inlined_at"] for each in findings],
                         [["inlined.cu:3", "inlined.cu:4"], ["inlined.cu:3", "inlined.cu:5"]])
        found = findings[0]
        self.assertEqual((found["source"], found["line"]), ("inlined.cu", 2))
        self.assertRegex(found["position"], r"^inlined.cu:2 \(PTX line \d+\)$")
        sarif = self.run_tool("check", "--sarif", "found.sarif", "--", TOOL, "run", "inlined.cu",
                              "--device", "cpu", "--block", "32", "--arg", "zeros:i32[16]",
                              "--nvrtc=-lineinfo", "-q")
        self.assertEqual(sarif.returncode, 1, sarif.stderr)
        related = json.loads(self.read("found.sarif"))["runs"][0]["results"][0]["relatedLocations"]
        self.assertEqual([(each["message"]["text"],
                           each["physicalLocation"]["region"]["startLine"]) for each in related],
                         [("inlined here", 3), ("inlined here", 4)])

    def test_suppressed_findings_are_counted(self):
        kernels = ["race_bytes", "memory_misaligned"]
        result = self.check("--write-suppressions", "rules", kernels=kernels)
        self.assertEqual(result.returncode, 1, result.stderr)
        count = int(re.search(r"check: (\d+) findings", result.stderr)[1])
        rules = self.read("rules").decode().splitlines()
        self.assertEqual(len(rules), 1 + count)
        self.assertIn('memory/misaligned-address kernel="memory_misaligned" source="', rules[-1])
        result = self.check("--suppress", "rules", "--json", "found.json", kernels=kernels)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(f"kernelmill check: 0 findings; {count} suppressed\n", result.stderr)
        self.assertNotIn("check: race:", result.stderr)
        self.assertEqual(json.loads(self.read("found.json")),
                         {"findings": [], "suppressed": count})
        self.write("rules", "# one of two\nmemory/* kernel=*_misaligned\n")
        result = self.check("--suppress", "rules", kernels=kernels)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("; 1 suppressed\n", result.stderr)
        self.assertNotIn("check: memory:", result.stderr)
        self.assertIn("check: race:", result.stderr)

    def test_wrong_rules_are_refused(self):
        self.write("rules", "race/*\n\nrace/* line=3\n")
        self.assertIn("rules:3: 'line=3' is neither kernel= nor source=",
                      self.bad(2, "check", "--suppress", "rules", "--", "true"))
        self.assertIn("none", self.bad(2, "check", "--suppress", "none", "--", "true"))
        self.assertIn("regular expression", self.bad(2, "check", "--kernel", "(", "--", "true"))

    def test_kernels_are_chosen_by_name(self):
        result = self.check("--kernel", "^memory_", kernels=["race_bytes", "memory_misaligned"])
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("check: memory:", result.stderr)
        self.assertNotIn("check: race:", result.stderr)
        result = self.check("--kernel", "^misaligned$", kernels=["memory_misaligned"])
        self.assertEqual(result.returncode, 0, result.stderr)

    def calls(self, tool, *steps):
        result = self.run_tool("check", "--tool", tool, "--json", "found.json", "--",
                               sys.executable, "-c", CALLS, *steps)
        findings = json.loads(self.read("found.json"))["findings"]
        self.assertEqual(result.returncode, 1 if findings else 0, result.stderr)
        return findings, result.stderr

    def test_memory_that_nothing_frees_is_a_leak(self):
        for steps, kinds in ((["alloc"], ["device-memory"]), (["alloc", "free"], []),
                             (["host"], ["host-memory"]), (["async"], ["pool-memory"]),
                             (["alloc", "reset"], ["device-memory"]), ([], [])):
            with self.subTest(steps=steps):
                findings, text = self.calls("leak", *steps)
                self.assertEqual([each["kind"] for each in findings], kinds, text)
                for each in findings:
                    self.assertEqual((each["tool"], each["bytes"]), ("leak", 4096))
                    self.assertTrue(each["kernel"].startswith("cuMem"), each)
                    self.assertIn("leak: 4096 bytes of ", text)
        self.assertEqual(self.calls("memory,init", "alloc")[0], [])
        self.assertEqual(self.check(kernels=["sound_race_last_block"]).returncode, 0)

    def test_wrong_addresses_of_calls(self):
        for steps, kind, call, text in (
                (["alloc", "free", "free"], "double-free", "cuMemFree_v2", "is freed twice"),
                (["alloc", "free-inside"], "invalid-free", "cuMemFree_v2", "8 bytes into the 4096"),
                (["alloc", "fill-beyond"], "out-of-bounds", "cuMemsetD8_v2",
                 "in the 4096-byte allocation"),
                (["alloc", "copy-beyond"], "out-of-bounds", "cuMemcpyHtoD_v2", "by cuMemAlloc"),
                (["fill-null"], "null-pointer", "cuMemsetD8_v2", "is a null pointer"),
                (["fill-host"], "host-pointer", "cuMemsetD8_v2", "pointer of the host"),
                (["alloc", "free", "fill"], "use-after-free", "cuMemsetD8_v2", "was freed"),
                (["alloc", "from-device"], "device-pointer", "cuMemcpyHtoD_v2",
                 "pointer of the device")):
            with self.subTest(steps=steps):
                findings, errors = self.calls("memory", *steps)
                self.assertEqual([(each["tool"], each["kind"], each["kernel"])
                                  for each in findings], [("memory", kind, call)], errors)
                self.assertIn(text, findings[0]["message"] + findings[0]["allocation"])
                self.assertEqual((findings[0]["thread"], findings[0]["line"]), ("", 0))
                self.assertIn(f"  call {call}\n", errors)

    def test_the_problem_matcher_of_the_guide(self):
        """Its patterns find the message and the place in what the command prints."""
        with open(os.path.join(SOURCE_DIR, "docs/guide/checker.md"), encoding="utf-8") as guide:
            block = next(text for text in re.findall(r"```json\n(.*?)```", guide.read(), re.DOTALL)
                         if "problemMatcher" in text)
        patterns = json.loads(block)["tasks"][0]["problemMatcher"]["pattern"]
        kernels = ["race_bytes", "memory_misaligned", "sync_early_return"]
        result = self.check("--json", "found.json", kernels=kernels)
        lines, found = result.stderr.splitlines(), []
        for i in range(len(lines) - 2):
            parts = [re.search(each["regexp"], line)
                     for each, line in zip(patterns, lines[i:i + 3])]
            if all(parts):
                found.append((parts[0][1], parts[0][2], parts[2][1], int(parts[2][2])))
        wanted = [(each["tool"], each["message"], each["source"], each["line"])
                  for each in json.loads(self.read("found.json"))["findings"]]
        self.assertEqual(found, wanted)
        self.assertGreaterEqual(len(found), 3)
        for position in ("a b/k.cu:7 (PTX line 3)", "k.ptx:3 (a b/k.cu:7)", "a b/k.cu:7"):
            match = re.search(patterns[2]["regexp"], "  read of 4 bytes by thread (0,0,0) of block "
                              "(0,0,0), at " + position)
            self.assertEqual(match.groups(), ("a b/k.cu", "7"))

    def test_findings_are_shown_up_to_a_limit(self):
        kernels = ["race_bytes", "memory_misaligned", "race_last_block"]
        lines = self.check(kernels=kernels).stderr.splitlines()
        limited = self.check("--limit", "1", kernels=kernels).stderr.splitlines()
        shown = [line for line in lines if re.match(r"  \w+ +\S+ +\d+ times", line)]
        self.assertGreater(len(shown), 2)
        self.assertEqual(len(lines) - len(limited), len(shown) - 1)

    def sanitizer(self, *options, kernels=(), code=0):
        return self.run_tool("exec", "--", "compute-sanitizer", *options, sys.executable, "-c",
                             PROGRAM, str(code), *kernels)

    def test_compute_sanitizer(self):
        """A command of this name is on PATH, with NVIDIA's options, words and exit codes."""
        for tool, kernel, text in (
                ("memcheck", "memory_misaligned", "Invalid __global__ read of size 4 bytes"),
                ("racecheck", "race_bytes", "Error: Race reported between Write access at "),
                ("initcheck", "init_shared",
                 "Uninitialized __shared__ memory read of size 4 bytes"),
                ("synccheck", "sync_early_return",
                 "Barrier error detected. Divergent thread(s) in block")):
            with self.subTest(tool=tool):
                for words in (("--tool", tool), ("-t", tool), (f"--tool={tool}",)):
                    result = self.sanitizer(*words, kernels=[kernel], code=3)
                    self.assertEqual(result.returncode, 3, result.stderr)
                    self.assertTrue(result.stdout.startswith("========= COMPUTE-SANITIZER\n"))
                    self.assertIn("========= " + text, result.stdout)
                    self.assertIn("kernels.cu:", result.stdout)
                result = self.sanitizer("--tool", tool, "--error-exitcode", "9", kernels=[kernel])
                self.assertEqual(result.returncode, 9)
                result = self.sanitizer("--tool", tool, "--error-exitcode", "9",
                                        kernels=["sound_race_last_block"])
                self.assertEqual(result.returncode, 0, result.stdout)
                self.assertRegex(result.stdout, r"SUMMARY: 0 (errors|hazards)")

    def test_options_of_compute_sanitizer(self):
        result = self.sanitizer("--log-file", "log", "--print-limit", "1", "--leak-check", "full",
                                "--target-processes", "all", kernels=["memory_misaligned"])
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
        self.assertIn("========= ERROR SUMMARY: 2 errors\n", self.read("log").decode())
        self.assertIn("========= LEAK SUMMARY: 8192 bytes leaked in 2 allocations\n",
                      self.read("log").decode())

    def test_failures_of_compute_sanitizer_are_told_apart(self):
        for words in (("--luck", "1"), ("--tool", "luck"), ("--kernel-regex", "(")):
            result = self.sanitizer(*words)
            self.assertEqual((result.returncode, result.stdout), (2, ""), words)
            self.assertNotIn("has not loaded", result.stderr)

    def test_compute_sanitizer_on_some_kernels(self):
        kernels = ["memory_misaligned", "memory_store_past_end"]
        for words, is_found in ((("--kernel-name", "kne=memory_misaligned"), (True, False)),
                                (("--kernel-name", "memory_mis"), (False, False)),
                                (("--kernel-name", "kns=past_end"), (False, True)),
                                (("--kernel-regex", "mis.*ed"), (True, False)),
                                (("--kernel-name", "kns=mis,kns=past"), (True, True))):
            text = self.sanitizer(*words, kernels=kernels).stdout
            self.assertEqual(tuple(f"at {kernel} in" in text for kernel in kernels), is_found,
                             words)

    def test_a_program_that_is_ended_leaves_its_findings(self):
        words = [TOOL, "check", "--json", "found.json", "--", sys.executable, "-c",
                 PROGRAM.replace("sys.exit", "print('done', flush=True)\nimport time\n"
                                 "time.sleep(60)\nsys.exit"), "0", "race_bytes"]
        process = subprocess.Popen(words, cwd=self.folder, text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), "done\n")
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, errors)
        self.assertTrue(json.loads(self.read("found.json"))["findings"])
        self.assertIn("of race\n", errors)

    def test_kernels_end_before_the_program_does(self):
        without_wait = PROGRAM.replace('call("cuCtxSynchronize")', "")
        for _ in range(5):
            result = self.run_tool("check", "--json", "found.json", "--", sys.executable, "-c",
                                   without_wait, "0", "memory_misaligned")
            self.assertEqual(result.returncode, 1, result.stderr)
            findings = json.loads(self.read("found.json"))["findings"]
            self.assertEqual([each["count"] for each in findings], [2 * 4 * 64])

    def test_launches_in_other_orders_are_counted(self):
        kernels = ["schedule_last_writer", "sound_schedule_tickets"]
        result = self.check("--explore", "4", "--json", "found.json", kernels=kernels)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("kernelmill check: 4 launches tried in other orders\n", result.stderr)
        found = json.loads(self.read("found.json"))["findings"]
        self.assertEqual([(each["tool"], each["kind"], each["kernel"], each["count"])
                          for each in found],
                         [("schedule", "result", "schedule_last_writer", 2)])
        for words in (("--explore", "0"), ("--schedule-seed", "0"), ("--explore", "all")):
            self.bad(2, "check", *words, "--", "true")

    def test_launches_that_cannot_run_twice_are_counted(self):
        result = self.check("--explore", "4", kernels=["other_allocates"])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("kernelmill check: 0 launches tried in other orders, "
                      "2 not: they allocate memory\n", result.stderr)

    def test_a_program_in_the_order_of_a_seed(self):
        result = self.check("--schedule-seed", "5", kernels=["sound_race_last_block"])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("kernelmill check: 0 findings\n", result.stderr)
        result = self.check("--schedule-seed", "5", kernels=["race_bytes"])
        self.assertEqual(result.returncode, 1, result.stderr)

    def test_nothing_is_left_behind(self):
        folder = self.path("temporary")
        os.mkdir(folder)
        result = self.run_tool("check", "--", sys.executable, "-c", PROGRAM, "0", "race_bytes",
                               env={"TMPDIR": folder})
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    unittest.main()
