"""kernelmill run on the CPU device."""

import base64
import json
import os
import re
import shlex
import stat
import unittest

from tool import SCALE, SOURCE_DIR, Case, npy, png, read_npy


# 8 x 8 pixels of grey 200.
GREY_JPEG = (
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERX"
    "RTc4UG1RV19iZ2hnPk1xeXBkeFxlZ2P/wAALCAAIAAgBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAABv/EABQQAQAA"
    "AAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8ASP/Z")


class Run(Case):
    def setUp(self):
        super().setUp()
        self.write("scale.cu", SCALE)
        self.write("x.npy", npy("f32", [5], [1, 2, 3.5, -4, 0.25]))

    def scale(self, *arguments, **options):
        return self.good("run", "scale.cu", "--device", "cpu", "--block", "32", *arguments,
                         **options)

    def test_npy_in_and_out(self):
        result = self.scale("--kernel", "scale", "--arg", "in:x.npy", "--arg", "out:y.npy:@0",
                            "--arg", "f32:2", "--arg", "i32:@0.count")
        self.assertEqual(read_npy(self.read("y.npy")), ("f32", (5,), [2, 4, 7, -8, 0.5]))
        self.assertEqual(result.stdout, "")
        for word in ("device   cpu:0", "compile  ", "load     ", "kernel   ", "scale"):
            self.assertIn(word, result.stderr)

    def test_json(self):
        words = ("--arg", "in:x.npy", "--arg", "out:y.npy:@0", "--arg", "f32:2", "--arg", "i32:5")
        answer = json.loads(self.scale(*words, "--json", "--repeat", "3").stdout)
        self.assertEqual((answer["kernel"], answer["grid"], answer["block"]),
                         ("scale", [1, 1, 1], [32, 1, 1]))
        self.assertEqual(len(answer["kernel_ms"]), 3)
        self.assertIn("cpu:0", answer["device"])
        self.assertEqual(answer["outputs"],
                         [{"argument": 1, "type": "f32", "shape": [5], "file": "y.npy"}])
        result = self.scale("--arg", "in:x.npy", "--arg", "print:f32[2,2]", "--arg", "f32:inf",
                            "--arg", "i32:4", "--json")
        self.assertEqual(result.stderr, "")
        self.assertEqual(json.loads(result.stdout)["outputs"][0]["values"],
                         ["inf", "inf", "inf", "-inf"])

    def test_failures_are_json_too(self):
        self.write("broken.cu", "__global__ void broken() { x = 1; }")
        for words, code, part in (
                (("scale.cu", "--arg", "in:x.npy"), 2, "takes 4 arguments, but 1 was given"),
                (("nowhere.cu",), 1, "cannot open 'nowhere.cu'"),
                (("broken.cu",), 1, "does not compile"),
                (("scale.cu", "--grid", "0"), 2, "--grid"),
                (("scale.cu", "--gird", "4"), 2, "unknown option '--gird'")):
            result = self.run_tool("run", *words, "--json")
            self.assertEqual(result.returncode, code)
            self.assertIn("kernelmill: ", result.stderr)
            failure = json.loads(result.stdout)["error"]
            self.assertIn(part, failure["message"])
            self.assertEqual(failure["exit_code"], code)
            self.assertRegex(failure["status"], r"^KM_ERROR_[A-Z_]+$")
            self.bad(code, "run", *words)  # prints nothing there
        for command, part in (("kernels", "nowhere.cu"), ("tune", "--kernel is required"),
                              ("corpus", "nowhere.cu")):
            failure = json.loads(self.run_tool(command, "nowhere.cu", "--json").stdout)
            self.assertIn(part, failure["error"]["message"])

    def test_json_stands_alone_where_kernels_print(self):
        self.write("say.cu", '#include <stdio.h>\nextern "C" __global__ void say() '
                             '{ printf("thread %d\\n", threadIdx.x); }')
        result = self.good("run", "say.cu", "-b", "2", "--json")
        self.assertEqual(json.loads(result.stdout)["kernel"], "say")
        self.assertEqual(result.stderr, "thread 0\nthread 1\n")
        self.assertIn("thread 1\n", self.good("run", "say.cu", "-b", "2").stdout)

    def test_fortran_order(self):
        rows = npy("i32", [2, 3], [1, 4, 2, 5, 3, 6]).replace(b"False", b"True ")
        self.write("f.npy", rows)
        self.write("copy.cu", 'extern "C" __global__ void copy(const int* in, int* out) '
                              "{ out[threadIdx.x] = in[threadIdx.x]; }")
        result = self.good("run", "copy.cu", "-b", "6", "-q", "--arg", "in:f.npy", "--arg",
                           "print:@0")
        self.assertEqual(result.stdout, "1 2 3\n4 5 6\n")

    def test_numbers_of_16_bits(self):
        self.write("copy.cu", 'extern "C" __global__ void copy(const short* in, short* out, '
                              "short add) { out[threadIdx.x] = in[threadIdx.x] + add; }")
        # 1, the largest, the least subnormal number, -2, and a NaN; written as NumPy has them.
        cases = {"f16": ("<f2", [0x3C00, 0x7BFF, 0x0001, 0xC000, 0x7E00],
                         ["1", "65504", "5.9604645e-08", "-2", "nan"]),
                 "bf16": ("<V2", [0x3F80, 0x7F7F, 0x0001, 0xC000, 0x7FC0],
                          ["1", "3.3895314e+38", "9.1835e-41", "-2", "nan"])}
        for name, (descriptor, bits, shown) in cases.items():
            self.write("h.npy", npy("u16", [5], bits).replace(b"<u2", descriptor.encode()))
            words = ("run", "copy.cu", "-b", "5", "-q", "--arg", "in:h.npy", "--arg")
            result = self.good(*words, "print:@0", "--arg", "u16:0")
            self.assertEqual(result.stdout.split(), shown, name)
            self.good(*words, "out:o.npy:@0", "--arg", "u16:0")
            self.assertEqual(self.read("o.npy")[-10:], self.read("h.npy")[-10:], name)
            self.assertIn(f"'descr': '{descriptor}'".encode(), self.read("o.npy"))
        # Ties go to the even number; what is too large becomes infinite.
        for number, expected in {"f16:1.00048828125": "1", "f16:1.00146484375": "1.0019531",
                                 "f16:65519": "65504", "f16:65520": "inf",
                                 "f16:3e-8": "5.9604645e-08", "bf16:1.00390625": "1",
                                 "bf16:-0.1": "-0.100097656"}.items():
            self.write("k.cu", "struct Half { unsigned short bits; };\n"
                               'extern "C" __global__ void k(Half v, Half* out) { *out = v; }')
            kind = number.split(":")[0]
            result = self.good("run", "k.cu", "-q", "--arg", number, "--arg", f"print:{kind}[1]")
            self.assertEqual(result.stdout.strip(), expected, number)

    def test_jpeg(self):
        self.write("grey.jpg", base64.b64decode(GREY_JPEG))
        self.write("copy.cu", 'extern "C" __global__ void copy(const unsigned char* in, '
                              "unsigned char* out) { out[threadIdx.x] = in[threadIdx.x]; }")
        result = self.good("run", "copy.cu", "-b", "64", "-q", "--arg", "in:grey.jpg", "--arg",
                           "print:u8[@0.height,@0.width,@0.channels]")
        values = [int(word) for word in result.stdout.split()]
        self.assertEqual(len(values), 64)
        for value in values:
            self.assertLessEqual(abs(value - 200), 2)
        self.write("cut.jpg", base64.b64decode(GREY_JPEG)[:-20])
        self.assertIn("'cut.jpg': ", self.bad(1, "run", "copy.cu", "--arg", "in:cut.jpg"))

    def test_print(self):
        result = self.scale("--arg", "in:x.npy", "--arg", "print:f32[2,2]", "--arg", "f32:0.1",
                            "--arg", "i32:4", "--quiet")
        self.assertEqual(result.stdout, "0.1 0.2\n0.35 -0.4\n")
        self.assertEqual(result.stderr, "")

    def test_output_on_standard_output(self):
        result = self.scale("--arg", "in:x.npy", "--arg", "out:-:f32[1]", "--arg", "f32:3",
                            "--arg", "i32:1")
        self.assertEqual(result.stdout, "3\n")

    def test_inout_writes_back_or_elsewhere(self):
        self.write("add.cu", 'extern "C" __global__ void add(int* p) { p[threadIdx.x] += 1; }')
        for _ in range(2):
            self.write("a.npy", npy("i32", [2, 2], [1, 2, 3, 4]))
            self.good("run", "add.cu", "-b", "4", "--arg", "inout:a.npy:b.npy", "-q")
            self.assertEqual(read_npy(self.read("b.npy"))[2], [2, 3, 4, 5])
            self.assertEqual(read_npy(self.read("a.npy"))[2], [1, 2, 3, 4])
            self.good("run", "add.cu", "-b", "4", "--arg", "inout:a.npy", "-q")
            self.assertEqual(read_npy(self.read("a.npy")), ("i32", (2, 2), [2, 3, 4, 5]))

    def test_repeat_starts_from_fresh_data(self):
        self.write("a.npy", npy("i32", [1], [10]))
        self.write("add.cu", 'extern "C" __global__ void add(int* p) { *p += 1; }')
        result = self.good("run", "add.cu", "--arg", "inout:a.npy", "--repeat", "5")
        self.assertEqual(read_npy(self.read("a.npy"))[2], [11])
        self.assertIn("of 5", result.stderr)

    def test_wild_accesses_are_caught(self):
        self.write("wild.cu", """
            extern "C" __global__ void wild(float* out, int n) { out[threadIdx.x + n] = 1; }""")
        arguments = ("run", "wild.cu", "--device", "cpu", "--block", "32", "--arg", "print:f32[32]",
                     "-q", "--arg")
        self.assertEqual(self.good(*arguments, "i32:0").stdout.split(), ["1"] * 32)
        message = self.bad(1, *arguments, "i32:8")
        self.assertIn("thread (24,0,0)", message)
        self.assertIn("0 bytes past the end of the 128-byte allocation", message)

    def test_wild_accesses_behind_a_call_are_caught(self):
        self.write("behind.cu", """
            #include <cstdio>
            __device__ __noinline__ int next(int i) { return i ? next(i - 1) + 1 : 1; }
            extern "C" __global__ void printed(int* p, int* q, int n) {
              p[0] = 1;
              printf("%d\\n", n);
              p[16400] = 2;
              q[0] = 3;
            }
            extern "C" __global__ void called(int* p, int* q, int n) {
              p[0] = 1;
              q[0] = next(n);
              p[16400] = 2;
              q[1] = next(n);
              p[1] = 3;
            }""")
        for kernel, line in ("printed", 7), ("called", 13):
            for block in "1", "32":
                message = self.bad(1, "run", "behind.cu", "-k", kernel, "--device", "cpu", "-b",
                                   block, "-a", "zeros:i32[16384]", "-a", "zeros:i32[1048576]",
                                   "-a", "i32:2", stdout=True)
                self.assertIn("64 bytes past the end of the 65536-byte allocation", message)
                self.assertIn(f"behind.cu:{line}", message)
        self.good("run", "behind.cu", "-k", "called", "--device", "cpu", "-a", "zeros:i32[16401]",
                  "-a", "zeros:i32[2]", "-a", "i32:2", "-q")

    def test_png(self):
        pixels = list(range(0, 240, 10))
        self.write("in.png", png(4, 2, 3, pixels))
        self.write("invert.cu", """
            extern "C" __global__ void invert(const unsigned char* in, unsigned char* out, int w,
                                              int h, int c) {
              int i = threadIdx.x;
              if (i < w * h * c) out[i] = 255 - in[i];
            }""")
        arguments = ["--arg", "i32:@0.width", "--arg", "i32:@0.height", "--arg",
                     "i32:@0.channels", "-q"]
        self.good("run", "invert.cu", "-b", "32", "--arg", "in:in.png", "--arg",
                  "out:out.png:4x2x3", *arguments)
        twice = self.good("run", "invert.cu", "-b", "32", "--arg", "in:out.png", "--arg",
                          "print:u8[24]", *arguments)
        self.assertEqual([int(word) for word in twice.stdout.split()], pixels)

    def test_every_scalar_type(self):
        types = {"i8": ("signed char", "-5"), "u8": ("unsigned char", "250"),
                 "i16": ("short", "-30000"), "u16": ("unsigned short", "60000"),
                 "i32": ("int", "-2000000000"), "u32": ("unsigned", "4000000000"),
                 "i64": ("long long", "-5000000000"), "u64": ("unsigned long long", "5000000000"),
                 "f32": ("float", "0.1"), "f64": ("double", "0.1")}
        for name, (type_name, value) in types.items():
            self.write("k.cu", f'extern "C" __global__ void k({type_name} v, {type_name}* out) '
                               "{ *out = v; }")
            result = self.good("run", "k.cu", "--arg", f"{name}:{value}", "--arg",
                               f"print:{name}[1]", "-q")
            self.assertEqual(result.stdout, value + "\n", name)

    def test_struct_and_hexadecimal(self):
        self.write("k.cu", """
            struct S { unsigned a, b; };
            extern "C" __global__ void k(S s, unsigned* out) { out[0] = s.a; out[1] = s.b; }""")
        result = self.good("run", "k.cu", "--arg", "u32:0xff,7", "--arg", "print:u32[2]", "-q")
        self.assertEqual(result.stdout, "255 7\n")

    def test_ptx(self):
        self.good("compile", "scale.cu", "-o", "scale.ptx")
        result = self.good("run", "scale.ptx", "--kernel", "scale", "--block", "32", "--arg",
                           "in:x.npy", "--arg", "print:@0", "--arg", "f32:2", "--arg", "i32:5")
        self.assertEqual(result.stdout, "2 4 7 -8 0.5\n")
        self.assertNotIn("compile  ", result.stderr)

    def test_names_of_cpp_kernels(self):
        self.write("k.cu", """
            namespace app { __global__ void five(int* p) { *p = 5; } }
            __global__ void six(int* p) { *p = 6; }
            template <int N> __global__ void number(int* p) { *p = N; }""")
        for kernel, expected in {"app::five": "5", "six": "6", "number<7>": "7",
                                 "_Z3sixPi": "6"}.items():
            result = self.good("run", "k.cu", "-k", kernel, "--arg", "print:i32[1]", "-q")
            self.assertEqual(result.stdout, expected + "\n", kernel)

    def test_dynamic_shared_memory_beside_static(self):
        self.write("both.ptx", """
            .version 7.0
            .target sm_70
            .address_size 64
            .extern .shared .align 4 .b8 more[];
            .visible .entry both() {
              .shared .align 4 .b8 tile[40960];
              .reg .b32 %r<3>;
              mov.u32 %r1, more;
              st.shared.u32 [tile], %r1;
              st.shared.u32 [%r1+19996], %r1;
              ret;
            }""")
        self.good("run", "both.ptx", "-g", "1", "-b", "32", "--shared", "20000")

    def test_grid_block_and_shared_memory(self):
        self.write("k.cu", """
            extern "C" __global__ void k(int* out) {
              extern __shared__ int memory[];
              int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
              int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
              int count = blockDim.x * blockDim.y * blockDim.z;
              memory[thread] = block * count + thread;
              __syncthreads();
              out[block * count + thread] = memory[count - 1 - thread];
            }""")
        result = self.good("run", "k.cu", "-g", "2,3,2", "-b", "4,2,3", "--shared", "96", "--arg",
                           "print:i32[12,24]", "-q")
        rows = [[int(word) for word in line.split()] for line in result.stdout.splitlines()]
        self.assertEqual(rows, [[b * 24 + 23 - t for t in range(24)] for b in range(12)])

    def test_device_printf(self):
        self.write("k.cu", 'extern "C" __global__ void k(int n) '
                           '{ printf("n is %d\\n", n); }')
        self.assertEqual(self.good("run", "k.cu", "--arg", "i32:42", "-q").stdout, "n is 42\n")


    def test_print_has_a_limit(self):
        self.write("k.cu", 'extern "C" __global__ void k(int* p) { p[threadIdx.x * 8] = 7; }')
        words = ("run", "k.cu", "-q", "-b", "1024", "--arg")
        result = self.good(*words, "print:i32[2,5000]")
        self.assertEqual(len(result.stdout.split()), 4096)
        self.assertTrue(result.stdout.endswith("\n"))
        self.assertIn("argument 0, 'print:i32[2,5000]': the first 4096 numbers are printed, the "
                      "other 5904 left out; out:FILE.npy:i32[2,5000] writes all", result.stderr)
        result = self.good(*words, "out:-:i32[2,5000]")
        self.assertEqual([len(line.split()) for line in result.stdout.splitlines()], [5000] * 2)
        self.assertEqual(result.stderr, "")

    def test_outputs_go_through_links_and_never_replace_pipes(self):
        self.write("k.cu", 'extern "C" __global__ void k(int* p) { *p = 7; }')
        self.write("target.npy", b"old")
        os.chmod(self.path("target.npy"), 0o640)
        os.symlink("target.npy", self.path("link.npy"))
        os.mkfifo(self.path("pipe.npy"))
        self.good("run", "k.cu", "-q", "--arg", "out:link.npy:i32[1]")
        self.assertTrue(os.path.islink(self.path("link.npy")))
        self.assertEqual(read_npy(self.read("target.npy")), ("i32", (1,), [7]))
        self.assertEqual(os.stat(self.path("target.npy")).st_mode & 0o777, 0o640)
        self.assertIn("nobody reads", self.bad(1, "run", "k.cu", "--arg", "out:pipe.npy:i32[1]"))
        self.assertIn("it is a pipe", self.bad(1, "run", "k.cu", "--arg", "in:pipe.npy"))
        self.assertTrue(stat.S_ISFIFO(os.lstat(self.path("pipe.npy")).st_mode))
        self.assertEqual(sorted(os.listdir(self.folder)),
                         ["k.cu", "link.npy", "pipe.npy", "scale.cu", "target.npy", "x.npy"])


class RunFailures(Case):
    def setUp(self):
        super().setUp()
        self.write("scale.cu", SCALE)

    def test_unknown_kernel(self):
        message = self.bad(2, "run", "scale.cu", "--kernel", "scael")
        self.assertIn("no kernel 'scael'. Did you mean 'scale'? Its kernel is scale.", message)
        self.write("two.cu", "namespace n { __global__ void blur() {} }\n__global__ void b(int) {}")
        message = self.bad(2, "run", "two.cu", "--kernel", "n::blru")
        self.assertRegex(message, "Did you mean 'n::blur'. Its kernels are (n::blur, b|b, n::blur)")
        self.assertIn("no kernel 'histogram'. Its kernels are",
                      self.bad(2, "run", "two.cu", "--kernel", "histogram"))

    def test_kernel_must_be_named_among_several(self):
        self.write("two.cu", "__global__ void a() {}\n__global__ void b(int) {}")
        self.assertIn("Its kernels are a, b.", self.bad(2, "run", "two.cu"))

    def test_overloads(self):
        self.write("two.cu", "__global__ void a() {}\n__global__ void a(int) {}")
        self.assertIn("_Z1ai", self.bad(2, "run", "two.cu", "-k", "a"))
        self.good("run", "two.cu", "-k", "_Z1av")

    def test_no_kernels(self):
        self.write("none.cu", "__device__ int x;")
        self.assertIn("It has no kernels.", self.bad(2, "run", "none.cu"))

    def test_wrong_number_of_arguments(self):
        message = self.bad(2, "run", "scale.cu", "--arg", "i32:1")
        self.assertIn("takes 4 arguments, but 1 was given", message)
        self.assertIn("2: 4 bytes (a float), 3: 4 bytes (an integer)", message)
        self.write("one.cu", "__global__ void one(int) {}")
        self.assertIn("takes 1 argument, but 0 were given", self.bad(2, "run", "one.cu"))

    def test_wrong_size_of_an_argument(self):
        message = self.bad(1, "run", "scale.cu", "--arg", "zeros:f32[4]", "--arg", "zeros:f32[4]",
                           "--arg", "f64:1", "--arg", "i32:1")
        self.assertIn("argument 2, 'f64:1'", message)

    def test_integers_are_no_floats(self):
        arrays = ["--arg", "zeros:f32[4]"] * 2
        message = self.bad(2, "run", "scale.cu", *arrays, "--arg", "i32:2", "--arg", "i32:4")
        self.assertIn("argument 2, 'i32:2': parameter 2 of kernel 'scale' is a float of 4 bytes, "
                      "but i32 an integer; write f32:2", message)
        message = self.bad(2, "run", "scale.cu", *arrays, "--arg", "f32:2", "--arg", "f32:4")
        self.assertIn("argument 3, 'f32:4'", message)
        self.assertIn("is an integer of 4 bytes, but f32 a float; write i32:4 or u32:4", message)
        self.assertIn("write i32:NUMBER", self.bad(2, "run", "scale.cu", *arrays, "--arg", "f32:2",
                                                   "--arg", "f32:0.5"))

    def test_arrays_are_no_floats(self):
        self.write("k.cu", 'extern "C" __global__ void k(double d, double* out) { *out = d; }')
        message = self.bad(2, "run", "k.cu", "--arg", "zeros:f64[1]", "--arg", "print:f64[1]")
        self.assertIn("is a float of 8 bytes, not the address of an array", message)
        self.assertEqual(self.good("run", "k.cu", "-q", "--arg", "f64:2", "--arg",
                                   "print:f64[1]").stdout, "2\n")
        # A null pointer may be spelled as a number, but not as a float.
        self.good("run", "scale.cu", "-q", "--arg", "u64:0", "--arg", "u64:0", "--arg", "f32:1",
                  "--arg", "i32:0")
        self.bad(2, "run", "scale.cu", "--arg", "f64:0", "--arg", "u64:0", "--arg", "f32:1",
                 "--arg", "i32:0")

    def test_block_too_large(self):
        message = self.bad(1, "run", "scale.cu", "-b", "2048", *["--arg", "zeros:f32[4]"] * 2,
                           "--arg", "f32:1", "--arg", "i32:1")
        self.assertIn("1024", message)

    def test_unknown_device(self):
        self.assertIn("tpu", self.bad(1, "run", "scale.cu", "--device", "tpu:0",
                                      *["--arg", "i32:1"] * 4))

    def test_errors_in_the_source(self):
        self.write("bad.cu", "__global__ void k() { x = 1; }")
        self.assertIn("bad.cu(1): error", self.bad(1, "run", "bad.cu"))

    def test_errors_in_ptx(self):
        self.write("bad.ptx", ".version 8.0\n.target sm_80\n.address_size 64\nnonsense\n")
        self.assertIn("bad.ptx:4:1", self.bad(1, "run", "bad.ptx"))

    def test_faults_name_the_place(self):
        self.write("k.cu", 'extern "C" __global__ void k(int* p) { p[1 << 28] = 1; }')
        message = self.bad(1, "run", "k.cu", "--arg", "zeros:i32[4]")
        self.assertIn("illegal address", message)
        self.assertRegex(message, r"kernel 'k', block \(0,0,0\).* at k\.cu:1 \(PTX line \d+\)")
        message = self.bad(1, "run", "k.cu", "--arg", "zeros:i32[4]", env={"KM_LINE_INFO": "0"})
        self.assertRegex(message, r"at PTX line \d+ of k\.cu")
        self.assertIn("KM_LINE_INFO is 'maybe'; expected 0 or 1",
                      self.bad(1, "run", "k.cu", "--arg", "zeros:i32[4]",
                               env={"KM_LINE_INFO": "maybe"}))

    def test_faults_name_kernel_and_line_as_in_the_source(self):
        self.write("away.h", "__device__ int far(int* p) {\n  return p[1 << 28];\n}\n")
        self.write("k.cu", '#include "away.h"\nnamespace n {\ntemplate <class T>\n'
                   "__global__ void k(T* p) {\n  *p =\n    far(p);\n}\n}\n"
                   "__global__ void own(int* p) {\n  p[0] = 1;\n  p[1 << 28] = 1;\n}\n")
        env = {"KM_CACHE_DIR": self.path("cache")}
        for _ in range(2):  # made, and taken from the cache
            message = self.bad(1, "run", "k.cu", "-k", "n::k<int>", "--arg", "zeros:i32[4]",
                               env=env)
            self.assertRegex(message, r"kernel 'n::k<int>', .* at \.?/?away\.h:2 \(PTX line")
            message = self.bad(1, "run", "k.cu", "-k", "own", "--arg", "zeros:i32[4]", env=env)
            self.assertRegex(message, r"kernel 'own', .* at k\.cu:11 \(PTX line \d+\)")
        self.good("compile", "k.cu", "--target", "cpu", "-o", "k.kmo")
        message = self.bad(1, "run", "k.kmo", "-k", "own", "--arg", "zeros:i32[4]",
                           env={"KM_CPU_MEMORY": "plain"})
        self.assertRegex(message, r"kernel 'own', .* at k\.cu:11 ")
        self.good("compile", "k.cu", "-o", "k.ptx")
        message = self.bad(1, "run", "k.ptx", "-k", "own", "--arg", "zeros:i32[4]")
        self.assertRegex(message, r"at k\.ptx:\d+ \(k\.cu:11\)")

    def test_endless_kernels_stop_at_the_time_limit(self):
        self.write("k.cu", 'extern "C" __global__ void k(int* p, int n) '
                           "{ int i = 0; while (i != n) i = (i * 5 + 2) & 0xfffe; *p = i; }")
        self.assertIn("time limit", self.bad(1, "run", "k.cu", "--arg", "zeros:i32[1]", "--arg",
                                             "i32:-1", env={"KM_KERNEL_TIMEOUT_MS": "100"}))

    def test_failed_runs_write_nothing(self):
        self.write("k.cu", 'extern "C" __global__ void k(int* p) { *p = 1; __trap(); }')
        self.bad(1, "run", "k.cu", "--arg", "out:y.npy:i32[1]")
        self.assertFalse(os.path.exists(self.path("y.npy")))

    def test_full_disk(self):
        os.symlink("/dev/full", self.path("y.npy"))
        self.write("k.cu", 'extern "C" __global__ void k(int* p) { *p = 1; }')
        self.assertIn("No space left", self.bad(1, "run", "k.cu", "--arg", "out:y.npy:i32[1]"))


class Device(Case):
    """What `info` says of the CPU device."""

    def test_figures(self):
        data = json.loads(self.good("info", "--json").stdout)
        device = next(d for d in data["devices"] if d.get("backend") == "cpu")
        self.assertEqual(device["uri"], "cpu:0")
        self.assertEqual(device["warp_size"], 32)
        self.assertEqual(device["compute_capability"], "8.9")
        self.assertEqual(device["max_threads_per_block"], 1024)
        self.assertGreaterEqual(device["threads"], 1)
        self.assertGreater(device["total_memory_bytes"], 1 << 28)
        self.assertIn(device["isa"], ("avx512", "avx2", "x86-64-v2"))

    def test_virtual_devices(self):
        data = json.loads(self.good("info", "--json", env={"KM_CPU_DEVICES": "2"}).stdout)
        self.assertEqual([d["uri"] for d in data["devices"] if d["uri"].startswith("cpu")],
                         ["cpu:0", "cpu:1"])

    def test_compute_capability_follows_the_environment(self):
        env = {"KM_CPU_CC": "8.6"}
        data = json.loads(self.good("info", "--json", env=env).stdout)
        device = next(d for d in data["devices"] if d.get("backend") == "cpu")
        self.assertEqual(device["compute_capability"], "8.6")
        self.write("scale.cu", SCALE)
        ptx = self.good("compile", "scale.cu", "-o", "-", env=env).stdout
        self.assertIn(".target sm_86", ptx)

    def test_a_way_to_add_up_that_does_not_exist_is_refused(self):
        self.write("scale.cu", SCALE)
        text = self.bad(1, "run", "scale.cu", "--arg", "zeros:f32[4]", "--device", "cpu",
                        env={"KM_CPU_MMA": "exact"})
        self.assertIn("KM_CPU_MMA is 'exact': give device or fast", text)

    def test_the_first_kernel_of_the_guide(self):
        with open(os.path.join(SOURCE_DIR, "docs/guide/install.md"), encoding="utf-8") as file:
            section = file.read().split("## A first kernel\n")[1].split("\n## ")[0]
        source, command, shown = re.findall(r"```\w+\n(.*?)```", section, re.S)
        self.write("fill.cu", source)
        words = shlex.split(command)
        self.assertEqual(words[0], "kernelmill")
        self.assertEqual(self.good(*words[1:], "--device", "cpu").stdout, shown)


if __name__ == "__main__":
    unittest.main()
