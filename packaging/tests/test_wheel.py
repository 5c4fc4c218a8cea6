"""The wheel, in a virtual environment that is not activated."""

import re
import sys
import unittest

from packages import FILLED, LOADS_DRIVER, ROOT, RUN_KERNEL, WHEEL, Case, one, version

# A part of numba-cuda's tests that is over in a minute.
NUMBA_TESTS = ("idiv", "sync", "nondet", "powi", "montecarlo", "localmem", "forall")
# What its tests ask of the checkout's own configuration of pytest.
NUMBA_FIXTURE = """import pytest


@pytest.fixture
def initialize_from_pytest_config(request):
    request.cls._dump_failed_filechecks = False
"""


class Wheel(Case):
    """NVRTC comes from the wheel's own dependencies."""

    def setUp(self):
        super().setUp()
        self.bin = self.folder / "env/bin"
        with self.first_kernel("pip install"):
            self.run_here(sys.executable, "-m", "venv", "env")
            self.install(one(WHEEL))
            self.assertEqual(self.run_here(self.bin / "kernelmill", *RUN_KERNEL).strip(), FILLED)

    def install(self, *packages):
        self.run_here(self.bin / "pip", "install", "--quiet", "--disable-pip-version-check",
                      *packages)

    def asked(self, function: str) -> str:
        program = f"import kernelmill; print(kernelmill.{function}())"
        return self.run_here(self.bin / "python", "-c", program).strip()

    def test_it_is_used_as_by_its_users(self):
        command = self.bin / "kernelmill"
        self.assertEqual(self.run_here(command, "--version").strip(), f"kernelmill {version()}")
        self.assertIn(str(self.folder / "env"), self.run_here(command, "setup", "--check"))
        said = self.run_here(command, "exec", "--", self.bin / "python", "-c", LOADS_DRIVER)
        self.assertEqual(said, "[0, 0]\n1\n")
        program = "import ctypes, kernelmill; ctypes.CDLL(kernelmill.library_path()).km_version"
        self.run_here(self.bin / "python", "-c", program)
        self.check_programs()

    def test_it_launches_kernels(self):
        """The program of the wheel's own page, and without numpy that of the examples."""
        saxpy = ROOT / "examples/saxpy/saxpy.cu"
        said = self.run_here(self.bin / "python", ROOT / "examples/python/saxpy.py", saxpy)
        self.assertEqual(said, "y[999] = 2\n")
        self.install("numpy", "mypy")
        page = (ROOT / "packaging/wheel/README.md").read_text("utf-8")
        program = self.folder / "program.py"
        program.write_text(re.search(r"^```python\n(.*?)^```$", page, re.M | re.S)[1])
        self.assertEqual(self.run_here(self.bin / "python", program), "[1. 3. 5. 7. 9.]\n")
        self.run_here(self.bin / "python", "-m", "mypy", "--strict", program)

    def check_programs(self):
        """Programs in C by pkg-config, by the folders, and by CMake."""
        source = ROOT / "tests/install/consumer"
        library = self.asked("library_dir")
        flags = self.run_here("pkg-config", "--cflags", "--libs", "kernelmill",
                              PKG_CONFIG_PATH=self.asked("pkgconfig_dir")).split()
        self.run_here("cc", source / "consumer.c", "-o", "program", *flags)
        self.assertEqual(self.run_here("./program", LD_LIBRARY_PATH=library).strip(), version())
        self.run_here("cc", source / "consumer.c", "-o", "program", "-I", self.asked("include_dir"),
                      "-L", library, "-lkernelmill", f"-Wl,-rpath,{library}")
        self.assertEqual(self.run_here("./program").strip(), version())
        self.run_here("cmake", "-S", source, "-B", "build", "-DWITH_KERNELS=OFF",
                      f"-Dkernelmill_DIR={self.asked('cmake_dir')}")
        self.run_here("cmake", "--build", "build")
        self.assertEqual(self.run_here("build/consumer").strip(), version())

    def test_numbas_tests_pass_through_the_wheel(self):
        """The way is pip install *.whl && kernelmill exec -- python -m pytest some_numba_tests."""
        self.install("-r", ROOT / "tests/clients/numba.txt")
        # The files themselves have no package above them that pytest could name them by.
        imports = [f"from numba.cuda.tests.cudapy.test_{name} import *\n" for name in NUMBA_TESTS]
        (self.folder / "test_numba.py").write_text("".join(imports))
        (self.folder / "conftest.py").write_text(NUMBA_FIXTURE)
        said = self.run_here(self.bin / "kernelmill", "exec", "--", self.bin / "python", "-m",
                             "pytest", "-q", "-p", "no:cacheprovider", "test_numba.py")
        passed = int(re.search(r"(\d+) passed", said)[1])
        self.assertGreater(passed, 20, said)

    def test_licences_are_inside(self):
        info = next((self.folder / "env/lib").glob("python3*/site-packages/kernelmill-*.dist-info"))
        notices = (info / "licenses/THIRD_PARTY").read_text()
        for part in ("LLVM", "zlib", "zstd", "lz4", "xxHash", "libpng", "CLI11", "nlohmann/json",
                     "libstdc++", "libgcc", "glibc"):
            self.assertRegex(notices, rf"(?m)^- {re.escape(part)}(?!\w)")
        for words in ("Apache License", "GNU GENERAL PUBLIC LICENSE", "GCC RUNTIME LIBRARY EXCEPT"):
            self.assertIn(words, notices)

    def test_auditwheel_proves_the_tag(self):
        self.install("auditwheel")
        said = self.run_here(self.bin / "auditwheel", "show", one(WHEEL))
        self.assertRegex(" ".join(said.split()), r'platform tag: "manylinux_2_(1\d|2[0-8])_x86_64"')


if __name__ == "__main__":
    unittest.main()
