"""The packages for AArch64, where make dist made any, under `scripts/setup.sh arm64`'s emulator."""

import shutil
import subprocess
import unittest

from packages import DIST, FILLED, ROOT, RUN_KERNEL, Case, one, quick_start

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

    def test_debian_has_the_files_where_it_has_those_of_arm64(self):
        packages = sorted(DIST.glob("*_arm64.deb"))
        self.assertEqual(len(packages), 4)
        for package in packages:
            shown = self.run_here("dpkg-deb", "-f", package, "Architecture").strip()
            self.assertEqual(shown, "arm64")
            self.run_here("dpkg-deb", "-x", package, "root")
        (self.folder / "root/lib").symlink_to("usr/lib")
        shutil.copytree(ARM64 / "root/usr/lib", self.folder / "root/usr/lib", symlinks=True,
                        dirs_exist_ok=True, ignore=shutil.ignore_patterns("llvm-*", "*.a"))
        said = self.run_here(EMULATOR[0], "-L", self.folder / "root",
                             self.folder / "root/usr/bin/kernelmill", *RUN_KERNEL,
                             KM_NVRTC=str(ARM64))
        self.assertEqual(said.strip(), FILLED)

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


if __name__ == "__main__":
    unittest.main()
