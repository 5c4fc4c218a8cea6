"""The Debian packages and the C tests in roots of Debian 11, 12, 13, without a compiler inside."""

import os
import shutil
import subprocess
import unittest
from pathlib import Path

from packages import (BUILD, DIST, FILLED, KERNEL, NVRTC, ROOT, RUN_KERNEL, debian_packages,
                      version)
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
        names = [f"/dist/{path.name}" for path in debian_packages()]
        with self.first_kernel(f"apt install on {root.path.name}"):
            self.good(root, "apt-get", "install", "-y", "--no-install-recommends", *names)
            command = " ".join(["cd /root && kernelmill", *RUN_KERNEL])
            said = self.good(root, "sh", "-c", command, KM_NVRTC="/opt/nvidia/cu13/lib")
        self.assertEqual(said.strip(), FILLED)
        for name in debian_packages():
            notices = f"usr/share/doc/{name.name.split('_')[0]}/THIRD_PARTY.gz"
            self.assertTrue((root.path / notices).exists(), notices)
        program = "import ctypes; print(ctypes.CDLL('libcuda.so.1').cuInit(0))"
        said = self.good(root, "kernelmill", "exec", "--", "python3", "-c", program)
        self.assertEqual(said, "0\n")
        self.good(root, "apt-get", "purge", "-y", "libkernelmill1")
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


class Upgrades(RootCase):
    """From packages that say that they are older, with the files of those of today."""

    def setUp(self):
        super().setUp()
        self.inside = self.root("bookworm")
        self.newer, self.older = self.inside.path / "newer", self.inside.path / "older"
        for folder in (self.newer, self.older):
            folder.mkdir()
        for path in debian_packages():
            shutil.copy(path, self.newer)
            self.write_older(path)
        self.install("older")

    def write_older(self, path: Path):
        tree = self.folder / path.stem
        subprocess.run(["dpkg-deb", "-R", path, tree], check=True)
        control = tree / "DEBIAN/control"
        control.write_text(control.read_text().replace(version(), "0.9.0"))
        for each in sorted(tree.rglob(f"*{version()}*"), reverse=True):
            each.rename(each.with_name(each.name.replace(version(), "0.9.0")))
        name = path.name.replace(version(), "0.9.0")
        subprocess.run(["dpkg-deb", "-Znone", "-b", tree, self.older / name], check=True,
                       stdout=subprocess.DEVNULL)

    def install(self, folder: str, pattern: str = "*.deb"):
        found = sorted((self.inside.path / folder).glob(pattern))
        self.good(self.inside, "apt-get", "install", "-y", "--no-install-recommends",
                  *[f"/{folder}/{path.name}" for path in found])

    def installed(self) -> dict:
        """Package -> version of those of ours that are installed."""
        listed = self.good(self.inside, "dpkg-query", "-W", "-f",
                           "${db:Status-Status} ${Package} ${Version}\n")
        rows = [line.split() for line in listed.splitlines() if "kernelmill" in line]
        return {name: number for status, name, number in rows if status == "installed"}

    def test_all_at_once_and_the_removal_of_all(self):
        self.assertEqual(set(self.installed().values()), {"0.9.0"})
        self.install("newer")
        self.assertEqual(set(self.installed().values()), {version()})
        self.assertEqual(len(self.installed()), 4)
        folders = (self.inside.path / "usr/lib/x86_64-linux-gnu").glob("kernelmill-*")
        self.assertEqual([path.name for path in folders], [f"kernelmill-{version()}"])
        self.assertIn("  cpu:0 ", self.good(self.inside, "kernelmill", "info"))
        self.good(self.inside, "apt-get", "purge", "-y", "libkernelmill1")
        self.assertEqual(self.installed(), {})
        left = [path for place in ("usr", "etc", "opt")
                for path in (self.inside.path / place).rglob("*kernelmill*")]
        self.assertEqual(left, [])

    def test_the_library_alone_takes_the_older_rest_away(self):
        """A driver without the plugin of its version would find no device."""
        self.install("newer", "libkernelmill1_*.deb")
        self.assertEqual(self.installed(), {"libkernelmill1": version()})


class Mounts(RootCase):
    def test_the_machine_sees_none_of_them(self):
        """So that a run that is ended leaves none."""
        root = self.root("bookworm")
        self.assertIn("null", self.good(root, "ls", "/dev"))
        self.assertNotIn(str(root.path), Path("/proc/1/mounts").read_text())


class Rules(RootCase):
    def test_lintian_finds_nothing(self):
        packages = debian_packages()
        self.assertEqual(len(packages), 4)
        root = self.root("lintian")
        for path in packages:
            self.assertIn(f"_{version()}_", path.name)
            shutil.copy(path, root.path)
        names = [f"/{path.name}" for path in packages]
        self.good(root, "lintian", "--fail-on", "error,warning", "--allow-root", *names)


if __name__ == "__main__":
    unittest.main()
