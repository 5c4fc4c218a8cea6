"""The wheel, in a virtual environment that is not activated."""

import sys
import unittest

from packages import FILLED, LOADS_DRIVER, ROOT, RUN_KERNEL, Case, one, version


class Wheel(Case):
    """NVRTC comes from the wheel's own dependencies."""

    def setUp(self):
        super().setUp()
        self.run_here(sys.executable, "-m", "venv", "env")
        self.bin = self.folder / "env/bin"
        self.run_here(self.bin / "pip", "install", "--quiet", "--disable-pip-version-check",
                      one("kernelmill-*.whl"))

    def asked(self, function: str) -> str:
        program = f"import kernelmill; print(kernelmill.{function}())"
        return self.run_here(self.bin / "python", "-c", program).strip()

    def test_it_is_used_as_by_its_users(self):
        command = self.bin / "kernelmill"
        self.assertEqual(self.run_here(command, "--version").strip(), f"kernelmill {version()}")
        self.assertEqual(self.run_here(command, *RUN_KERNEL).strip(), FILLED)
        self.assertIn(str(self.folder / "env"), self.run_here(command, "setup", "--check"))
        said = self.run_here(command, "exec", "--", self.bin / "python", "-c", LOADS_DRIVER)
        self.assertEqual(said, "[0, 0]\n1\n")
        program = "import ctypes, kernelmill; ctypes.CDLL(kernelmill.library_path()).km_version"
        self.run_here(self.bin / "python", "-c", program)
        self.check_programs()

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

    def test_auditwheel_proves_the_tag(self):
        self.run_here(self.bin / "pip", "install", "--quiet", "auditwheel")
        said = self.run_here(self.bin / "auditwheel", "show", one("kernelmill-*.whl"))
        self.assertRegex(" ".join(said.split()), r'platform tag: "manylinux_2_(1\d|2[0-8])_x86_64"')


if __name__ == "__main__":
    unittest.main()
