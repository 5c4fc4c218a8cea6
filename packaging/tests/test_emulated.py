"""The packages for AArch64, where make dist made any, under `scripts/setup.sh arm64`'s emulator."""

import os
import re
import shutil
import subprocess
import unittest

from emulated import EmulatedRoot, run_emulated
from packages import DIST, FILLED, KERNEL, ROOT, RUN_KERNEL, Case, one, quick_start
from roots import RootCase
from test_bindings import build_in_go, tools

ARM64 = ROOT / ".deps/arm64"
EMULATOR = [ARM64 / "tools/usr/bin/qemu-aarch64-static", "-L", ARM64 / "root"]
COMPILER = ["clang-19", "--target=aarch64-linux-gnu", f"--sysroot={ARM64}/root", "-fuse-ld=lld"]
NAME = "kernelmill-*-linux-aarch64"


@unittest.skipUnless(EMULATOR[0].exists() and list(DIST.glob(f"{NAME}.tar.xz")),
                     "needs the archive for AArch64: make dist ARCH=arm64")
class Emulated(Case):
    def setUp(self):
        super().setUp()
        self.run_here("tar", "-xf", one(f"{NAME}.tar.xz"))
        self.prefix = next(self.folder.glob(NAME))

    def test_a_kernel_runs(self):
        said = self.run_here(*EMULATOR, self.prefix / "bin/kernelmill", *RUN_KERNEL,
                             KM_NVRTC=str(ARM64))
        self.assertEqual(said.strip(), FILLED)

    def test_the_quick_start_runs(self):
        (self.folder / "quickstart.c").write_text(quick_start()[0])
        self.run_here(*COMPILER, "quickstart.c", "-o", "quickstart", f"-I{self.prefix}/include",
                      f"-L{self.prefix}/lib", "-lkernelmill", f"-Wl,-rpath,{self.prefix}/lib")
        said = self.run_here(*EMULATOR, "./quickstart", KM_NVRTC=str(ARM64))
        self.assertEqual(said, "y[999] = 2\n")

    def test_a_program_in_go_finds_the_library(self):
        *compiler, linker = COMPILER
        build_in_go(self, GOARCH="arm64", CGO_ENABLED="1", CC=" ".join(compiler),
                    CGO_LDFLAGS=linker)
        said = self.run_here(*EMULATOR, "./outside", KM_LIBRARY_DIR=str(self.prefix / "lib"))
        self.assertEqual(said.strip(), "1 <nil>")

    def test_a_program_in_zig_gets_the_library_of_its_target(self):
        """By the pkg-config of that target, as Debian names it: this machine's knows another."""
        zig, programs = tools()["zig"], self.folder / "programs"
        (self.folder / "here").mkdir()
        (self.folder / "here/kernelmill.pc").write_text(
            "Name: kernelmill\nDescription: of this machine\nVersion: 1\n"
            f"libdir={self.folder}/none\nincludedir={self.folder}/none\n")
        programs.mkdir()
        program = programs / "aarch64-linux-gnu-pkg-config"
        program.write_text("#!/bin/sh\n"
                           f'PKG_CONFIG_LIBDIR={self.prefix}/lib/pkgconfig pkg-config "$@"\n')
        program.chmod(0o755)
        for name in ("build.zig", "build.zig.zon", "main.zig"):
            shutil.copy(ROOT / "bindings/zig/tests/fetched" / name, self.folder)
        # Zig's own parts are compiled on first use: quickly, and once for all runs.
        cache = str(ROOT / "build/zig")
        settings = {"ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache,
                    "ZIG_DEBUG_CMD": "1", "PATH": f"{programs}:{os.environ['PATH']}",
                    "PKG_CONFIG_LIBDIR": str(self.folder / "here")}
        self.run_here(zig, "fetch", "--save", one("kernelmill-zig-*.tar.gz"), **settings)
        self.run_here(zig, "build", "-Dtarget=aarch64-linux-gnu.2.28", **settings)
        done = subprocess.run([*map(str, EMULATOR), self.folder / "zig-out/bin/fetched"],
                              capture_output=True, text=True, check=False)
        self.assertIn("version 1: { 7, 7, 7, 7 }\n", done.stderr)

    def test_debian_has_the_files_where_it_has_those_of_arm64(self):
        packages = sorted(DIST.glob("*_arm64.deb"))
        self.assertEqual(len(packages), 4)
        for package in packages:
            shown = self.run_here("dpkg-deb", "-f", package, "Architecture").strip()
            self.assertEqual(shown, "arm64")
            self.run_here("dpkg-deb", "-x", package, "root")
        root = self.folder / "root"
        (root / "lib").symlink_to("usr/lib")
        shutil.copytree(ARM64 / "root/usr/lib", root / "usr/lib", symlinks=True,
                        dirs_exist_ok=True, ignore=shutil.ignore_patterns("llvm-*", "*.a"))
        for name in ("proc", "dev"):
            (root / name).mkdir()
        shutil.copytree(ARM64 / "nvidia", root / "nvidia", symlinks=True,
                        ignore=shutil.ignore_patterns("cccl", "include"))
        shutil.copy(self.folder / "fill.cu", root)
        # Not by -L: the library looks for its plugin by faccessat, which the emulator asks the
        # machine's own files.
        done = run_emulated(root, "/usr/bin/kernelmill", *RUN_KERNEL, KM_NVRTC="/",
                            KM_CACHE_DIR="off")
        self.assertEqual(done.stdout.strip(), FILLED, done.stderr)

    def test_the_wheel_holds_what_its_name_says(self):
        self.run_here("unzip", "-q", one("kernelmill-*_aarch64.whl"), "-d", "wheel")
        libraries = [path for path in (self.folder / "wheel").rglob("*.so*")
                     if path.read_bytes()[:4] == b"\x7fELF"]
        self.assertGreaterEqual(len(libraries), 10)
        shown = subprocess.run(["file", "--brief", *libraries], capture_output=True, text=True,
                               check=True).stdout
        self.assertEqual({"ARM aarch64" in line for line in shown.splitlines()}, {True})
        said = self.run_here(*EMULATOR, self.folder / "wheel/kernelmill/bin/kernelmill",
                             *RUN_KERNEL, KM_NVRTC=str(ARM64))
        self.assertEqual(said.strip(), FILLED)


@unittest.skipUnless(EMULATOR[0].exists() and list(DIST.glob("kernelmill-*_aarch64.whl")),
                     "needs the wheel for AArch64: make dist ARCH=arm64")
class Container(RootCase):
    """The recipe for Docker on a Mac, in a root of Debian 12 that stands for the image."""

    def test_the_recipe_is_followed(self):
        page = (ROOT / "docs/guide/arm64.md").read_text("utf-8")
        text = re.search(r"^```dockerfile\n(.*?)^```$", page, re.M | re.S)[1]
        root = EmulatedRoot(self.folder)
        entry, settings = self.follow_dockerfile(root, text)
        machine = self.good(root, *entry, "python3", "-c", "import os; print(os.uname().machine)",
                            **settings)
        self.assertEqual(machine, "aarch64\n")
        program = "import ctypes; print(ctypes.CDLL('libcuda.so.1').cuInit(0))"
        self.assertEqual(self.good(root, *entry, "python3", "-c", program, **settings), "0\n")
        (root.path / "root/fill.cu").write_text(KERNEL)
        command = " ".join(["cd /root && kernelmill", *RUN_KERNEL])
        said = self.good(root, *entry, "sh", "-c", command, **settings)
        self.assertEqual(said.strip(), FILLED)


if __name__ == "__main__":
    unittest.main()
