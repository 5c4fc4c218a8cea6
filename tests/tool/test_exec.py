"""kernelmill exec: programs on our CUDA driver. The program here is Python, by ctypes."""

import os
import shutil
import subprocess
import sys
import unittest

from tool import TOOL, Case

PROGRAM = """
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
assert cuda.cuInit(0) == 0
count, major, memory = ctypes.c_int(), ctypes.c_int(), ctypes.c_size_t()
assert cuda.cuDeviceGetCount(ctypes.byref(count)) == 0
assert cuda.cuDeviceGetAttribute(ctypes.byref(major), 75, 0) == 0
assert cuda.cuDeviceTotalMem_v2(ctypes.byref(memory), 0) == 0
print(count.value, major.value, memory.value)
sys.exit(int(sys.argv[1]))
"""


FAILING = """
import ctypes, subprocess, sys
cuda = ctypes.CDLL("libcuda.so.1")
cuda.cuInit(0)
found, size = ctypes.c_void_p(), ctypes.c_size_t()
cuda.cuGetProcAddress_v2(b"cuNoSuchName", ctypes.byref(found), 12000, ctypes.c_uint64(0), None)
assert cuda.cuCtxSynchronize() == 201
assert cuda.cuDeviceTotalMem_v2(ctypes.byref(size), 99) == 101
if len(sys.argv) > 1:
    subprocess.run([sys.executable, "-c", sys.argv[1]], check=True)
"""


class Exec(Case):
    def run_program(self, *options, code=0):
        words = [TOOL, "exec", *options, "--", sys.executable, "-c", PROGRAM, str(code)]
        return subprocess.run(words, capture_output=True, text=True, cwd=self.folder, timeout=60)

    @staticmethod
    def run_script(script, *arguments, options=()):
        words = [TOOL, "exec", *options, "--", sys.executable, "-c", script, *arguments]
        return subprocess.run(words, capture_output=True, text=True, timeout=120)

    @staticmethod
    def keeping(name):
        """The options with which a library stays the one that a test has made."""
        replaced = ("libcudart", "libcublas.", "libcudnn", "libcufft", "libcupti", "libcurand",
                    "libcusolver", "libcusparse.", "libnccl.", "libnvrtc", "libnvJitLink")
        return ("--no-replace", name) if name.startswith(replaced) else ()

    def test_a_program_finds_the_driver(self):
        done = self.run_program(code=7)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertEqual(done.stdout.split()[:2], ["1", "8"])

    def test_devices_are_as_asked(self):
        done = self.run_program("--devices", "3", "--cc", "8.0", "--memory", "3G")
        self.assertEqual(done.stdout.split(), ["3", "8", str(1 << 30)], done.stderr)

    def test_a_program_finds_the_libraries_beside_the_driver(self):
        names = [f"lib{name}.so.{major}" for name in ("cublas", "cublasLt", "cupti", "nvrtc")
                 for major in (12, 13)]  # fmt: skip
        names += [f"lib{name}.so.{major}" for name in ("cufft", "cufftw", "cusolver", "cusolverMg")
                  for major in (11, 12)]  # fmt: skip
        names += ["libcurand.so.10", "libcusparse.so.12", "libcudnn.so.9", "libcudnn_graph.so.9",
                  "libnccl.so.2", "libnvidia-ml.so.1",
                  "libnvToolsExt.so.1"]  # fmt: skip
        text = f"import ctypes, os\nfor name in {names}: ctypes.CDLL(name)\n"
        text += "assert os.path.exists(os.environ['NVTX_INJECTION64_PATH'])\n"
        text += "assert ctypes.CDLL('libcuda.so.1').cuInit(0) == 0\n"
        done = self.run_script(text)
        self.assertEqual(done.returncode, 0, done.stderr)

    @unittest.skipUnless(os.environ.get("KM_NVRTC"), "needs NVRTC")
    def test_a_program_compiles_for_machine_code(self):
        text = (
            "import ctypes\n"
            "cuda, nvrtc = ctypes.CDLL('libcuda.so.1'), ctypes.CDLL('libnvrtc.so.13')\n"
            "program, size, module = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_void_p()\n"
            "options, source = (ctypes.c_char_p * 1)(b'-arch=sm_89'), b'__global__ void f() {}'\n"
            "none, image = ctypes.c_void_p(), ctypes.create_string_buffer(1 << 16)\n"
            "assert cuda.cuInit(0) == 0\n"
            "assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(none), 0) == 0\n"
            "assert cuda.cuCtxSetCurrent(none) == 0\n"
            "assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, 0, 0, 0, 0) == 0\n"
            "assert nvrtc.nvrtcCompileProgram(program, 1, options) == 0\n"
            "assert nvrtc.nvrtcGetCUBIN(program, image) == 0\n"
            "assert cuda.cuModuleLoadData(ctypes.byref(module), image) == 0\n"
        )
        done = self.run_script(text)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_calls_are_shown(self):
        done = self.run_program("--log")
        self.assertIn("cuDeviceGetCount: CUDA_SUCCESS", done.stderr)
        quiet = self.run_program()
        self.assertEqual(quiet.stderr, "")

    def test_the_first_failed_call_is_explained(self):
        words = [TOOL, "exec", "--", sys.executable, "-c", FAILING, FAILING]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertIn("cuCtxSynchronize: CUDA_ERROR_INVALID_CONTEXT: ", lines[0])
        words.insert(2, "--log")
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
        self.assertIn("there is no device 99", done.stderr)
        self.assertNotIn("the first failed call", done.stderr)

    def test_files_that_are_not_there_are_no_failures(self):
        script = (
            "import ctypes\n"
            "cuda, out = ctypes.CDLL('libcuda.so.1'), ctypes.c_void_p()\n"
            "assert cuda.cuInit(0) == 0\n"
            "assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(out), 0) == 0\n"
            "assert cuda.cuCtxSetCurrent(out) == 0\n"
            "assert cuda.cuModuleLoad(ctypes.byref(out), b'/nowhere/kept.ptx') == 301\n"
        )
        done = self.run_script(script)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_program_without_the_driver_is_noticed(self):
        def run(*words, code=0):
            done = subprocess.run([TOOL, "exec", "--", *words], capture_output=True, text=True)
            self.assertEqual(done.returncode, code, done.stderr)
            return done.stderr

        self.assertIn("false has not loaded this CUDA driver", run("false", code=1))
        script = 'import ctypes; ctypes.CDLL("libcuda.so.1")'
        self.assertEqual(run(sys.executable, "-c", script), "")
        # Also by a program of the program, which has closed all that it inherited.
        child = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"
        self.assertEqual(run(sys.executable, "-c", child, script), "")
        self.assertEqual(run(TOOL, "exec", "--", sys.executable, "-c", script), "")
        # What the variable names need not be there.
        odd = "import os, sys; os.environ['KM_EXEC_REPORT'] = sys.argv[1]; "
        for value in ("1:0", f"{os.getpid()}:0", "x", "99999999:3", "-1:-1"):
            notice = run(sys.executable, "-c", odd + "import subprocess;"
                         "subprocess.run([sys.executable, '-c', sys.argv[2]], check=True)",
                         value, script)  # fmt: skip
            self.assertIn("has not loaded", notice)

    def test_a_program_finds_the_runtime(self):
        script = (
            "import ctypes\n"
            "for version in (12, 13):\n"
            "    runtime, found = ctypes.CDLL(f'libcudart.so.{version}'), ctypes.c_int()\n"
            "    assert runtime.cudaGetDeviceCount(ctypes.byref(found)) == 0\n"
            "    assert runtime.cudaRuntimeGetVersion(ctypes.byref(found)) == 0\n"
            "    print(found.value // 1000)\n"
        )
        words = [TOOL, "exec", "--devices", "2", "--", sys.executable, "-c", script]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.stdout.split(), done.stderr), (["12", "13"], ""))

    def test_a_runtime_of_nvidias_is_told_how_to_change(self):
        script = (
            "import ctypes\n"
            "cuda, table = ctypes.CDLL('libcuda.so.1'), ctypes.c_void_p()\n"
            "for _ in range(2):\n"
            "    assert cuda.cuGetExportTable(ctypes.byref(table), bytes(16)) == 500\n"
        )
        done = self.run_script(script)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("build it with `nvcc -cudart shared`", done.stderr)

    def test_python_packages_find_our_nvrtc_before_nvidia_s(self):
        compiler = shutil.which("cc")
        if compiler is None:
            self.skipTest("there is no C compiler")
        packages = os.path.join(self.folder, "lib", "python3.9", "site-packages")
        nvidia = os.path.join(packages, "nvidia", "cu13", "lib")
        os.makedirs(nvidia)
        with open(os.path.join(self.folder, "empty.c"), "w", encoding="utf-8") as file:
            file.write("int nothing;\n")
        extension = os.path.join(packages, "extension.so")
        for path in (extension, os.path.join(nvidia, "libnvrtc.so.13")):
            subprocess.run([compiler, "-shared", "-fPIC", "-o", path, "empty.c"], check=True,
                           cwd=self.folder)  # fmt: skip
        script = (
            "import ctypes, os, sys\n"
            "if len(sys.argv) > 1: ctypes.CDLL(sys.argv[1])\n"
            "ctypes.CDLL('libcuda.so.1')\n"
            "try: print(ctypes.CDLL('libnvrtc.so.13', mode=os.RTLD_NOLOAD).nvrtcGetPTX)\n"
            "except OSError: print('none')\n"
        )
        for words, loaded in (((), False), ((extension,), True)):
            done = self.run_script(script, *words)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual("_FuncPtr" in done.stdout, loaded, done.stdout)

    def test_a_library_that_asks_for_private_tables_is_named(self):
        compiler = shutil.which("cc")
        if compiler is None:
            self.skipTest("there is no C compiler")
        with open(os.path.join(self.folder, "asks.c"), "w", encoding="utf-8") as file:
            file.write("int asks(int (*get)(void**, const char*), void** out)"
                       " { return get(out, \"0123456789abcdef\") + 0; }\n")  # fmt: skip
        for name, words in (
            ("libcutensor.so.2", "the program uses libcutensor.so.2 (cuTENSOR), which runs on "
                                 "NVIDIA's driver only: build it with products of cuBLAS in its "),
            ("libcudart.so.12", "loads NVIDIA's CUDA runtime by a path of its own, {path}, which"),
            ("extension.so", "kernelmill: {path} holds NVIDIA's own CUDA runtime, which needs"),
            ("libcurand.so.10", "(cuRAND), which runs on NVIDIA's driver only: have it load ours"),
            ("libnvrtc.so.12", None),
        ):  # fmt: skip
            path = os.path.join(os.path.realpath(self.folder), name)
            subprocess.run([compiler, "-shared", "-fPIC", "-o", path, "asks.c"], check=True,
                           cwd=self.folder)  # fmt: skip
            script = (
                "import ctypes, sys\n"
                "cuda, table = ctypes.CDLL('libcuda.so.1'), ctypes.c_void_p()\n"
                "asks = ctypes.CDLL(sys.argv[1]).asks\n"
                "assert asks(cuda.cuGetExportTable, ctypes.byref(table)) == 500\n"
            )
            done = self.run_script(script, path, options=self.keeping(name))
            self.assertEqual(done.returncode, 0, done.stderr)
            if words is None:
                self.assertNotIn("private tables", done.stderr)
            else:
                self.assertIn(words.format(path=path), done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_each_library_with_a_runtime_of_its_own_is_named(self):
        compiler = shutil.which("cc")
        if compiler is None:
            self.skipTest("there is no C compiler")
        with open(os.path.join(self.folder, "asks.c"), "w", encoding="utf-8") as file:
            file.write("int asks(int (*get)(void**, const char*), void** out)"
                       " { return get(out, \"0123456789abcdef\") + 0; }\n")  # fmt: skip
        paths = [os.path.join(os.path.realpath(self.folder), name) for name in ("a.so", "b.so")]
        for path in paths:
            subprocess.run([compiler, "-shared", "-fPIC", "-o", path, "asks.c"], check=True,
                           cwd=self.folder)  # fmt: skip
        script = (
            "import ctypes, sys\n"
            "cuda, table = ctypes.CDLL('libcuda.so.1'), ctypes.c_void_p()\n"
            "for path in sys.argv[1:] * 2:\n"
            "  assert ctypes.CDLL(path).asks(cuda.cuGetExportTable, ctypes.byref(table)) == 500\n"
        )
        done = self.run_script(script, *paths)
        for path in paths:
            self.assertIn(f"{path} holds NVIDIA's own CUDA runtime", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 2, done.stderr)

    def test_people_who_use_pip_are_told_what_they_can_do(self):
        compiler = shutil.which("cc")
        if compiler is None:
            self.skipTest("there is no C compiler")
        with open(os.path.join(self.folder, "asks.c"), "w", encoding="utf-8") as file:
            file.write("int asks(int (*get)(void**, const char*), void** out)"
                       " { return get(out, \"0123456789abcdef\") + 0; }\n")  # fmt: skip
        packages = os.path.join(os.path.realpath(self.folder), "lib/python3.11/site-packages")
        asks = "assert library.asks(cuda.cuGetExportTable, ctypes.byref(out)) == 500\n"
        loads = (
            "assert cuda.cuInit(0) == 0\n"
            "assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(out), 0) == 0\n"
            "assert cuda.cuCtxSetCurrent(out) == 0\n"
            "assert cuda.cuModuleLoadData(ctypes.byref(out), b'\\x7fELF' + bytes(60)) == 209\n"
        )
        for name, call, words in (
            ("cupy/_core/core.so", asks, "install CuPy from its sources with Kernelmill's runtime"),
            ("odd/odd.so", asks, "use what the Python package odd has for CPUs"),
            ("nvidia/cutensor/lib/libcutensor.so.2", asks, "package that needs it has for CPUs"),
            ("nvidia/cu13/lib/libcudart.so.13", asks, "without --no-replace, which gives it /"),
            ("nvidia/cu13/lib/libcublas.so.13", asks, "cuda/13/libcublas.so.13"),
            ("nvidia/cu13/lib/libnvJitLink.so.13", loads, "without --no-replace nvJitLink"),
            ("triton/_C/libtriton.so", loads, "let TRITON_PTXAS_PATH and"),
            ("odd/odd.so", loads, "give PTX instead"),
        ):  # fmt: skip
            path = os.path.join(packages, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            subprocess.run([compiler, "-shared", "-fPIC", "-o", path, "asks.c"], check=True,
                           cwd=self.folder)  # fmt: skip
            script = ("import ctypes, sys\n"
                      "cuda, out = ctypes.CDLL('libcuda.so.1'), ctypes.c_void_p()\n"
                      "library = ctypes.CDLL(sys.argv[1])\n" + call)  # fmt: skip
            done = self.run_script(script, path, options=self.keeping(os.path.basename(name)))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(words, done.stderr, name)
            if words != "give PTX instead":
                self.assertNotIn("nvcc", done.stderr, name)

    def test_a_library_of_another_installation_is_named(self):
        script = (
            "import ctypes\n"
            "cuda, table = ctypes.CDLL('libcuda.so.1'), ctypes.c_void_p()\n"
            "id = b'kernelmill-lib' + bytes([255, 255])\n"
            "assert cuda.cuGetExportTable(ctypes.byref(table), id) == 500\n"
        )
        done = self.run_script(script)
        self.assertIn("belongs to another Kernelmill than this driver library, /", done.stderr)
        self.assertNotIn("NVIDIA", done.stderr)

    def test_machine_code_of_gpus_and_graphics_are_explained(self):
        for call, words in (
            ("cuModuleLoadData(ctypes.byref(out), b'\\x7fELF' + bytes(60)) == 209",
             ("the image is a cubin: machine code of a GPU", "-gencode arch=compute_75")),
            ("cuGraphicsGLRegisterBuffer(ctypes.byref(out), 1, 0) == 801",
             ("cuGraphicsGLRegisterBuffer shares memory with OpenGL", "cuMemcpyDtoH")),
        ):  # fmt: skip
            script = (
                "import ctypes\n"
                "cuda, out = ctypes.CDLL('libcuda.so.1'), ctypes.c_void_p()\n"
                "assert cuda.cuInit(0) == 0\n"
                "assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(out), 0) == 0\n"
                "assert cuda.cuCtxSetCurrent(out) == 0\n"
                f"assert cuda.{call}\n"
            )
            done = self.run_script(script)
            self.assertEqual(done.returncode, 0, done.stderr)
            shown = [line for line in done.stderr.splitlines() if line.startswith("kernelmill: ")]
            self.assertEqual(len(shown), 1, done.stderr)
            for each in words:
                self.assertIn(each, shown[0])

    def test_libraries_that_are_not_there_are_named(self):
        compiler = shutil.which("cc")
        if compiler is None:
            self.skipTest("there is no C compiler")

        def build(*words):
            subprocess.run([compiler, *words], check=True, cwd=self.folder)

        with open(os.path.join(self.folder, "main.c"), "w", encoding="utf-8") as file:
            file.write("int fft(void);\nint main(void) { return fft(); }\n")
        with open(os.path.join(self.folder, "fft.c"), "w", encoding="utf-8") as file:
            file.write("int fft(void) { return 3; }\n")
        build("-shared", "-fPIC", "-Wl,-soname,libcutensor.so.2", "-o", "libcutensor.so.2", "fft.c")
        build("-o", "program", "main.c", "libcutensor.so.2")
        program = os.path.join(self.folder, "program")

        def run(**variables):
            return subprocess.run([TOOL, "exec", "--", program], capture_output=True, text=True,
                                  env={**os.environ, **variables}, timeout=60)  # fmt: skip

        done = run(LD_LIBRARY_PATH="")
        self.assertEqual(done.returncode, 127, done.stderr)
        self.assertIn(f"kernelmill: {program} needs libcutensor.so.2 (cuTENSOR), which Kernelmill "
                      "does not have: build it with products of cuBLAS in its place",
                      done.stderr)  # fmt: skip
        self.assertNotIn("has not loaded", done.stderr)
        done = run(LD_LIBRARY_PATH=str(self.folder))
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertNotIn("cuTENSOR", done.stderr)

    def test_the_folder_alone_is_enough(self):
        shown = subprocess.run([TOOL, "exec", "--", "env"], capture_output=True, text=True)
        folder = next(
            line.split("=", 1)[1].split(":")[0]
            for line in shown.stdout.splitlines()
            if line.startswith("LD_LIBRARY_PATH=")
        )
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, "0"],
            env={**os.environ, "LD_LIBRARY_PATH": folder},
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_mistakes_are_told(self):
        words = [TOOL, "exec", "--", "no-such-program"]
        done = subprocess.run(words, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no-such-program", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_options_are_checked_before_the_program_runs(self):
        for option, value, words in (
            ("--devices", "0", "--devices is 0; give 1 to 64"),
            ("--devices", "65", "--devices is 65; give 1 to 64"),
            ("--devices", "two", "--devices"),
            ("--cc", "9", "--cc is '9'; give a compute capability from 5.0 to 12.9"),
            ("--cc", "sm_90", "--cc is 'sm_90'"),
            ("--cc", "4.9", "--cc is '4.9'"),
            ("--cc", "13.0", "--cc is '13.0'"),
            ("--cc", "", "--cc is ''"),
            ("--memory", "8", "--memory is 8 bytes; give at least 16M"),
            ("--memory", "0", "--memory is 0 bytes"),
            ("--memory", "many", "--memory"),
            ("--memory", "-1G", "--memory"),
        ):
            done = subprocess.run(
                [TOOL, "exec", option, value, "--", "echo", "ran"], capture_output=True, text=True
            )
            self.assertEqual(done.returncode, 2, (option, value, done.stderr))
            self.assertIn(words, done.stderr)
            self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main()
