"""The Debian packages and the C tests in roots of Debian 11, 12 and 13, without a compiler inside.

A root is made once, by debootstrap, below build/roots. Each test works on a copy.
"""

import os
import shutil
import subprocess
import unittest
from pathlib import Path

from packages import BUILD, DIST, FILLED, KERNEL, NVRTC, ROOT, RUN_KERNEL, Case, version

ROOTS = ROOT / "build/roots"
MIRROR = os.environ.get("KM_DEBIAN_MIRROR", "http://deb.debian.org/debian")
INCLUDED = "libcmocka0,libopenblas0-pthread,python3-minimal"


def make_root(release: str) -> Path:
    root = ROOTS / release
    if (root / "complete").exists():
        return root
    shutil.rmtree(root, ignore_errors=True)
    ROOTS.mkdir(parents=True, exist_ok=True)
    subprocess.run(["debootstrap", "--variant=minbase", f"--include={INCLUDED}", release, root,
                    MIRROR], check=True, stdout=subprocess.DEVNULL)
    (root / "complete").write_text("")
    return root


class Root:
    """A copy of a root with /proc and /dev, which goes with the object."""

    def __init__(self, release: str, folder: Path):
        self.path = folder / release
        subprocess.run(["cp", "-a", make_root(release), self.path], check=True)
        subprocess.run(["mount", "-t", "proc", "proc", self.path / "proc"], check=True)
        subprocess.run(["mount", "--bind", "/dev", self.path / "dev"], check=True)

    def close(self):
        for name in ("dev", "proc"):
            subprocess.run(["umount", self.path / name], check=True)

    def run(self, *words, **settings):
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C",
                       "KM_CACHE_DIR": "off", "DEBIAN_FRONTEND": "noninteractive", **settings}
        return subprocess.run(["chroot", self.path, *[str(word) for word in words]], text=True,
                              env=environment, capture_output=True, check=False)


@unittest.skipUnless(os.geteuid() == 0 and shutil.which("debootstrap"),
                     "needs root and debootstrap: scripts/setup.sh dist")
class Roots(Case):
    def root(self, release: str) -> Root:
        root = Root(release, self.folder)
        self.addCleanup(root.close)
        (root.path / "root/fill.cu").write_text(KERNEL)
        shutil.copytree(NVRTC / "nvidia", root.path / "opt/nvidia", symlinks=True)
        for tool in ("cc", "gcc", "clang", "ld"):
            self.assertNotEqual(root.run("sh", "-c", f"command -v {tool}").returncode, 0)
        return root

    def good(self, root: Root, *words, **settings) -> str:
        done = root.run(*words, **settings)
        self.assertEqual(done.returncode, 0, f"{words}\n{done.stdout}{done.stderr}")
        return done.stdout

    def check_packages(self, root: Root):
        left_out = shutil.ignore_patterns("go-proxy", "*.whl")
        shutil.copytree(DIST, root.path / "dist", ignore=left_out)
        names = [f"/dist/{path.name}" for path in sorted(DIST.glob("*.deb"))]
        self.good(root, "apt-get", "install", "-y", "--no-install-recommends", *names)
        command = " ".join(["cd /root && kernelmill", *RUN_KERNEL])
        said = self.good(root, "sh", "-c", command, KM_NVRTC="/opt/nvidia/cu13/lib")
        self.assertEqual(said.strip(), FILLED)
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


@unittest.skipUnless(shutil.which("lintian"), "needs lintian: scripts/setup.sh dist")
class Rules(Case):
    def test_lintian_finds_nothing(self):
        packages = sorted(DIST.glob("*.deb"))
        self.assertEqual(len(packages), 4)
        self.assertTrue(all(f"_{version()}_" in path.name for path in packages))
        self.run_here("lintian", "--fail-on", "error,warning", "--allow-root", *packages)


if __name__ == "__main__":
    unittest.main()
