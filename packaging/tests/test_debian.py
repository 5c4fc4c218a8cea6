"""The Debian packages and the C tests in roots of Debian 11, 12, 13, without a compiler inside."""

import os
import shutil
import unittest

from packages import BUILD, DIST, FILLED, KERNEL, NVRTC, ROOT, RUN_KERNEL, version
from roots import COMPILERS, Root, RootCase


class Roots(RootCase):
    def root(self, name: str) -> Root:
        root = super().root(name)
        (root.path / "root/fill.cu").write_text(KERNEL)
        shutil.copytree(NVRTC / "nvidia", root.path / "opt/nvidia", symlinks=True)
        for tool in COMPILERS:
            self.assertNotEqual(root.run("sh", "-c", f"command -v {tool}").returncode, 0)
        return root

    def check_packages(self, root: Root):
        left_out = shutil.ignore_patterns("go-proxy", "*.whl")
        shutil.copytree(DIST, root.path / "dist", ignore=left_out)
        names = [f"/dist/{path.name}" for path in sorted(DIST.glob("*.deb"))]
        with self.first_kernel(f"apt install on {root.path.name}"):
            self.good(root, "apt-get", "install", "-y", "--no-install-recommends", *names)
            command = " ".join(["cd /root && kernelmill", *RUN_KERNEL])
            said = self.good(root, "sh", "-c", command, KM_NVRTC="/opt/nvidia/cu13/lib")
        self.assertEqual(said.strip(), FILLED)
        for name in DIST.glob("*.deb"):
            notices = f"usr/share/doc/{name.name.split('_')[0]}/THIRD_PARTY.gz"
            self.assertTrue((root.path / notices).exists(), notices)
        program = "import ctypes; print(ctypes.CDLL('libcuda.so.1').cuInit(0))"
        said = self.good(root, "kernelmill", "exec", "--", "python3", "-c", program)
        self.assertEqual(said, "0\n")
        self.good(root, "apt-get", "purge", "-y", "libkernelmill1", "libkernelmill1-cuda")
        self.assertFalse((root.path / "usr/bin/kernelmill").exists())

    def check_c_tests(self, root: Root):
        for name in ("stage/lib", "tests"):
            (root.path / "build" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(BUILD / "stage/lib", root.path / "build/stage/lib", symlinks=True)
        (root.path / "build/tests").mkdir()
        data = root.path / str(ROOT / "tests/data").lstrip("/")
        shutil.copytree(ROOT / "tests/data", data)
        programs = [p for p in sorted((BUILD / "tests").glob("km_c_*"))
                    if p.is_file() and os.access(p, os.X_OK)]
        self.assertGreater(len(programs), 40)
        for program in programs:
            shutil.copy2(program, root.path / "build/tests")
            with self.subTest(program=program.name):
                self.good(root, f"/build/tests/{program.name}", KM_NVRTC="/opt/nvidia/cu13/lib",
                          LD_LIBRARY_PATH="/build/stage/lib")

    def check(self, release: str):
        root = self.root(release)
        self.check_packages(root)
        self.check_c_tests(root)

    def test_debian_11(self):
        self.check("bullseye")

    def test_debian_12(self):
        self.check("bookworm")

    def test_debian_13(self):
        self.check("trixie")


class Rules(RootCase):
    def test_lintian_finds_nothing(self):
        packages = sorted(DIST.glob("*.deb"))
        self.assertEqual(len(packages), 4)
        root = self.root("lintian")
        for path in packages:
            self.assertIn(f"_{version()}_", path.name)
            shutil.copy(path, root.path)
        names = [f"/{path.name}" for path in packages]
        self.good(root, "lintian", "--fail-on", "error,warning", "--allow-root", *names)


if __name__ == "__main__":
    unittest.main()
