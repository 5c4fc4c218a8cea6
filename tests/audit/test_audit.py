"""kernelmill exec gets in front of NVIDIA's libraries, wherever a program looks for them."""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

TOOL = os.environ["TEST_TOOL"]
PROGRAMS = Path(os.environ["TEST_PROGRAMS"])
NVIDIA = PROGRAMS / "nvidia"
CUDA = Path(os.environ["TEST_CUDA"])
NVRTC = next(map(str, Path(os.environ["KM_NVRTC"]).glob("**/libnvrtc.so.13")), None)


def run(*words, options=(), **variables):
    """A program of this folder under `exec`, with its arguments."""
    done = subprocess.run([TOOL, "exec", *options, "--", *map(str, words)], capture_output=True,
                          text=True, timeout=60, check=False,
                          env={**os.environ, **variables})  # fmt: skip
    return done.returncode, done.stdout.split(), done.stderr


class Libraries(unittest.TestCase):
    def expect_opened(self, name, path, *more, options=(), **variables):
        code, out, err = run(PROGRAMS / "opens", name, *more, options=options, **variables)
        self.assertEqual((code, out[:1]), (0, [str(path)]), err)
        return err

    def test_programs_with_a_path_of_their_own_get_ours(self):
        for name in ("rpath", "runpath", "hashed"):
            alone = subprocess.run([PROGRAMS / name], capture_output=True, text=True, check=True)
            self.assertEqual(alone.stdout.split(), ["-1"])
            code, out, err = run(PROGRAMS / name)
            self.assertEqual(code, 0, err)
            self.assertEqual(int(out[0]) // 1000, 12)

    def test_a_file_that_is_opened_by_its_path_is_ours_of_that_version(self):
        ours = {"libcudart.so.12": CUDA / "12/libcudart.so.12",
                "libcublas.so.13": CUDA / "13/libcublas.so.13"}  # fmt: skip
        for name, path in ours.items():
            self.expect_opened(NVIDIA / name, path)
            self.expect_opened(f"{NVIDIA}/../nvidia/{name}", path)

    def test_names_of_all_kinds_are_known(self):
        for name, path in (
            ("libcuda.so.1", "libcuda.so.1"),
            ("libcuda.so", "libcuda.so.1"),
            ("/usr/lib/x86_64-linux-gnu/libcuda.so.580.65.06", "libcuda.so.1"),
            ("libnvidia-ml.so.1", "libnvidia-ml.so.1"),
            ("libcudart.so", "13/libcudart.so.13"),
            ("libcudart.so.12.9.79", "12/libcudart.so.12"),
            ("libcublasLt.so.13", "13/libcublasLt.so.13"),
            ("libcublas-0123abcd.so.12", "12/libcublas.so.12"),
            ("libnvrtc.so.12", "12/libnvrtc.so.12"),
            ("libnvToolsExt.so.1", "libnvToolsExt.so.1"),
        ):
            self.expect_opened(name, CUDA / path)

    def test_every_library_of_ours_is_found(self):
        for path in [*CUDA.glob("lib*.so.*"), *CUDA.glob("1?/lib*.so.*")]:
            self.expect_opened(f"/opt/cuda/lib64/{path.name}", path)

    def test_a_link_says_which_version_it_is(self):
        with tempfile.TemporaryDirectory() as folder:
            link = Path(folder) / "libcudart.so"
            link.symlink_to("libcudart.so.12")
            self.expect_opened(link, CUDA / "12/libcudart.so.12")

    def test_other_names_are_left_alone(self):
        for name in ("libcudart.so.11.0", "libcublasXt.so.12", "libcudart.so.1", "libcutensor.so.2",
                     "libcublas-nothash.so.12", "xlibcuda.so.1", "libcuda.so.1x"):  # fmt: skip
            self.expect_opened(name, "none")

    def test_a_library_is_there_once_by_all_names(self):
        ours = CUDA / "12/libcudart.so.12"
        _, out, err = run(PROGRAMS / "opens", "loaded:libcudart.so.12", NVIDIA / "libcudart.so.12",
                          "loaded:libcudart.so.12", "loaded:/x/libcudart-00000000.so.12")
        self.assertEqual(out, ["none", str(ours), str(ours), str(ours)], err)

    def test_what_is_to_stay_stays(self):
        path = NVIDIA / "libcudart.so.12"
        for name in ("cudart", "libcudart", "libcudart.so.12"):
            self.expect_opened(path, path, options=("--no-replace", name))
            code, out, err = run(PROGRAMS / "runpath", options=("--no-replace", name))
            self.assertEqual((code, out), (0, ["-1"]), err)
        options = ("--no-replace", "libcudart.so.13", "--no-replace", "cublas")
        self.expect_opened(path, CUDA / "12/libcudart.so.12", options=options)
        self.expect_opened("libcublas.so.13", "none", options=options)
        self.expect_opened("libcublasLt.so.13", CUDA / "13/libcublasLt.so.13", options=options)
        code, _, err = run("true", options=("--no-replace", "cufancy"))
        self.assertEqual(code, 2)
        self.assertIn("--no-replace is 'cufancy', which exec does not replace; give cu", err)

    def test_the_log_says_once_what_is_replaced(self):
        path = NVIDIA / "libcudart.so.12"
        err = self.expect_opened(path, CUDA / "12/libcudart.so.12", path, options=("--log",))
        said = f"kernelmill: {path} is replaced by {CUDA}/12/libcudart.so.12\n"
        self.assertEqual(err.count(said), 1, err)
        self.assertNotIn("is replaced", self.expect_opened(path, CUDA / "12/libcudart.so.12"))

    def test_programs_of_the_program_get_ours(self):
        shell = f"{PROGRAMS}/runpath; cd /; exec {PROGRAMS}/becomes {PROGRAMS}/rpath"
        for words in ((PROGRAMS / "becomes", PROGRAMS / "becomes", PROGRAMS / "rpath"),
                      ("sh", "-c", shell),
                      (PROGRAMS / "static", PROGRAMS / "runpath"),
                      (TOOL, "exec", "--", PROGRAMS / "rpath")):  # fmt: skip
            code, out, err = run(*words)
            self.assertEqual(code, 0, err)
            self.assertTrue(out and all(int(each) // 1000 == 12 for each in out), out)

    def test_an_auditing_library_of_the_user_stays(self):
        code, out, _ = run("sh", "-c", "echo $LD_AUDIT", LD_AUDIT="/nowhere/audit.so")
        self.assertEqual((code, out), (0, [f"/nowhere/audit.so:{CUDA}/libkernelmill-audit.so"]))

    def test_static_programs_run_as_they_do(self):
        code, out, err = run(PROGRAMS / "static", "/bin/echo", "12")
        self.assertEqual((code, out), (0, ["12"]), err)
        self.assertNotIn("ERROR", err)

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to give a file to another user")
    def test_programs_with_rights_of_their_own_are_untouched(self):
        folder = Path(tempfile.mkdtemp(dir=PROGRAMS))
        self.addCleanup(shutil.rmtree, folder)
        folder.chmod(0o755)
        program = folder / "opens"
        shutil.copy(PROGRAMS / "opens", program)
        os.chown(program, 65534, 65534)
        program.chmod(0o4755)
        if os.statvfs(folder).f_flag & os.ST_NOSUID:
            self.skipTest("the file system ignores such rights")
        _, out, err = run(program, "libcudart.so.12")
        self.assertEqual(out, ["none"], err)
        self.assertTrue(program.stat().st_mode & stat.S_ISUID)

    def test_starting_a_program_costs_little(self):
        def least_ms(**variables):
            times = []
            for _ in range(40):
                begin = time.perf_counter()
                subprocess.run(["true"], check=True, env={**os.environ, **variables})
                times.append((time.perf_counter() - begin) * 1e3)
            return min(times)

        audited = least_ms(LD_AUDIT=f"{CUDA}/libkernelmill-audit.so",
                           KERNELMILL_EXEC_LIBRARIES=f"{CUDA}:libcuda.so.1")
        self.assertLess(audited - least_ms(), 5)


class Commands(unittest.TestCase):
    """nvidia-smi stands for all commands of ours, in place of one in a Python package."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for place in ("lib/python3.12/site-packages/nvidia/cu13/bin", "bin"):
            path = Path(folder.name) / place
            path.mkdir(parents=True)
            (path / "nvidia-smi").write_text("#!/bin/sh\necho NVIDIA\n")
            (path / "nvidia-smi").chmod(0o755)
        self.wheels = Path(folder.name) / "lib/python3.12/site-packages/nvidia/cu13/bin/nvidia-smi"
        self.users = Path(folder.name) / "bin/nvidia-smi"

    def test_a_package_s_command_is_ours_however_it_is_started(self):
        python = (sys.executable, "-c")
        spawn = ("import os, sys\n"
                 "os.waitpid(os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ), 0)")
        fork = "import subprocess, sys; subprocess.run(sys.argv[1:], check=True)"
        for words in ((PROGRAMS / "becomes",), (*python, spawn), (*python, fork)):
            code, out, err = run(*words, self.wheels, "-L")
            self.assertEqual((code, out[:2]), (0, ["GPU", "0:"]), err)

    def test_the_user_s_own_commands_stay(self):
        _, out, err = run(PROGRAMS / "becomes", self.users, "-L")
        self.assertEqual(out, ["NVIDIA"], err)
        _, out, err = run(PROGRAMS / "becomes", self.wheels, options=("--no-replace", "nvidia-smi"))
        self.assertEqual(out, ["NVIDIA"], err)


@unittest.skipUnless(NVRTC, "NVIDIA's NVRTC is not installed")
class LibrariesThatOpenNvidias(unittest.TestCase):
    def test_nvidias_nvrtc_is_opened_by_the_path_that_gave_ours(self):
        script = ("import ctypes, sys\n"
                  "nvrtc = ctypes.CDLL(sys.argv[1])\n"
                  "program = ctypes.c_void_p()\n"
                  "text = b'__global__ void kernel() {}'\n"
                  "assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, None, 0, None,\n"
                  "                                None) == 0\n"
                  "assert nvrtc.nvrtcCompileProgram(program, 0, None) == 0\n"
                  "print(any('cuda/13/libnvrtc' in line for line in open('/proc/self/maps')))")
        code, out, err = run(sys.executable, "-c", script, NVRTC, KM_NVRTC=NVRTC)
        self.assertEqual((code, out), (0, ["True"]), err)


class DeviceFiles(unittest.TestCase):
    def test_programs_find_the_files_of_the_driver(self):
        if os.path.exists("/dev/nvidiactl"):
            self.skipTest("this machine has NVIDIA's driver")
        for name in ("device_files", "device_files_now"):
            alone = subprocess.run([PROGRAMS / name], check=False)
            self.assertEqual(alone.returncode, 1)
            code, _, err = run(PROGRAMS / name, options=("--devices", "2"))
            self.assertEqual(code, 0, err)
            # Without our driver there is no device.
            code, _, err = run(PROGRAMS / name,
                               options=("--devices", "2", "--no-replace", "cuda"))
            self.assertEqual(code, 1, err)

    def test_python_sees_as_many_as_there_are(self):
        script = ("import glob, os\n"
                  "print(*sorted(glob.glob('/dev/nvidia*')), os.path.exists('/dev/nvidia3'))")
        _, out, err = run(sys.executable, "-c", script, options=("--devices", "3"))
        self.assertEqual(out, ["/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia0",
                               "/dev/nvidia1", "/dev/nvidia2", "/dev/nvidiactl", "False"], err)


if __name__ == "__main__":
    unittest.main()
