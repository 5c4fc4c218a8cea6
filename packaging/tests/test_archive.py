"""The archive: its symbols, and a program built with it wherever it lies."""

import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

from packages import (ARCHIVE, BILL, BUILD, DIST, FILLED, HERE, LOADS_DRIVER, NVRTC, ROOT,
                      RUN_KERNEL, Case, one, quick_start, version)

sys.path.insert(0, str(ROOT / "packaging"))
from bindings import tools  # noqa: E402

OLDEST_GLIBC = (2, 28)
ALLOWED = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1",
           "ld-linux-x86-64.so.2", "libkernelmill.so.1"}


class Archive(Case):
    def setUp(self):
        super().setUp()
        self.prefix = self.folder / "a folder elsewhere"
        with self.first_kernel("the archive"):
            self.run_here("tar", "-xf", one(ARCHIVE))
            (self.folder / f"kernelmill-{version()}-linux-{HERE}").rename(self.prefix)
            said = self.run_here(self.prefix / "bin/kernelmill", *RUN_KERNEL, KM_NVRTC=str(NVRTC))
        self.assertEqual(said.strip(), FILLED)

    def binaries(self) -> list:
        files = [p for p in sorted(self.prefix.rglob("*")) if p.is_file() and not p.is_symlink()]
        return [p for p in files if p.read_bytes()[:4] == b"\x7fELF"]

    def test_nothing_needs_a_newer_glibc(self):
        self.assertGreaterEqual(len(self.binaries()), 10)
        for path in self.binaries():
            shown = subprocess.run(["readelf", "-V", path], capture_output=True, text=True,
                                   check=True).stdout
            newest = max(tuple(map(int, v)) for v in re.findall(r"GLIBC_(\d+)\.(\d+)", shown))
            self.assertLessEqual(newest, OLDEST_GLIBC, path)
            self.assertNotIn("GLIBCXX", shown, path)

    def test_licences_are_inside(self):
        self.assertIn("LLVM", (self.prefix / "share/doc/kernelmill/THIRD_PARTY").read_text())

    def test_nothing_needs_other_libraries(self):
        for path in self.binaries():
            shown = subprocess.run(["readelf", "-d", path], capture_output=True, text=True,
                                   check=True).stdout
            needed = set(re.findall(r"NEEDED.*\[(.+)\]", shown))
            self.assertLessEqual(needed, ALLOWED, path)

    def test_the_command_has_no_variable_of_glibc_twice(self):
        shown = subprocess.run(["readelf", "-rW", self.prefix / "bin/kernelmill"],
                               capture_output=True, text=True, check=True).stdout
        copies = set(re.findall(r"R_X86_64_COPY\s+\S+\s+(\w+)", shown))
        self.assertLessEqual(copies, {"stdin", "stdout", "stderr"})

    def test_a_program_runs_on_the_driver(self):
        command = self.prefix / "bin/kernelmill"
        said = self.run_here(command, "exec", "--", sys.executable, "-c", LOADS_DRIVER)
        self.assertEqual(said, "[0, 0]\n1\n")

    def test_the_quick_start_is_inside(self):
        """README's program, built by README's lines."""
        program, lines = quick_start()
        inside = self.prefix / "share/kernelmill/examples/quickstart/quickstart.c"
        self.assertEqual(inside.read_text("utf-8"), program)
        prefix = self.folder / "kernelmill"  # the shell splits names at blanks
        self.prefix.rename(prefix)
        (self.folder / "quickstart.c").write_text(program)
        said = self.run_here("sh", "-ec", lines, KM_NVRTC=str(NVRTC),
                             PKG_CONFIG_PATH=str(prefix / "lib/pkgconfig"))
        self.assertEqual(said, "y[999] = 2\n")

    def test_a_program_is_built_by_pkg_config_and_by_cmake(self):
        source = ROOT / "tests/install/consumer"
        found = {"PKG_CONFIG_PATH": str(self.prefix / "lib/pkgconfig")}
        flags = self.run_here("pkg-config", "--cflags", "--libs", "kernelmill", **found)
        words = [w.replace("\\", "") for w in re.findall(r"(?:\\.|\S)+", flags)]
        self.run_here("cc", source / "consumer.c", "-o", "program", *words)
        library = str(self.prefix / "lib")
        self.assertEqual(self.run_here("./program", LD_LIBRARY_PATH=library).strip(), version())
        self.run_here("cmake", "-S", source, "-B", "build", f"-DCMAKE_PREFIX_PATH={self.prefix}",
                      "-DWITH_KERNELS=OFF")
        self.run_here("cmake", "--build", "build")
        self.assertEqual(self.run_here("build/consumer").strip(), version())


class Contents(unittest.TestCase):
    def test_linker_stubs_were_made_from_what_is_there_now(self):
        inputs = (BUILD / "glibc/inputs").read_text()
        maker = (ROOT / "packaging/glibc/stubs.py").read_bytes()
        self.assertIn(hashlib.sha256(maker).hexdigest(), inputs)
        shown = subprocess.run([tools()["zig"], "version"], capture_output=True, text=True,
                               check=True).stdout.strip()
        self.assertIn(f"glibc {OLDEST_GLIBC[0]}.{OLDEST_GLIBC[1]}, zig {shown},", inputs)

    def test_what_is_linked_does_not_say_where_it_was_built(self):
        """Not even before it is stripped: the identity that the linker gives would differ."""
        linked = [*BUILD.glob("glibc/*.[ao]"), *BUILD.glob("bin/*"), *BUILD.glob("lib/*.so.*.*"),
                  *BUILD.glob("lib/*/**/*.so*"), *BUILD.glob("lib/*/**/*.a")]
        self.assertGreaterEqual(len(linked), 20)
        for path in linked:
            data = path.read_bytes()
            for place in (ROOT, tempfile.gettempdir()):
                self.assertNotIn(f"{place}/".encode(), data, path)

    def test_checksums_are_right_and_complete(self):
        lines = (DIST / "SHA256SUMS").read_text().splitlines()
        listed = {line[66:]: line[:64] for line in lines}
        found = {p.relative_to(DIST).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest()
                 for p in DIST.rglob("*") if p.is_file() and p.name != "SHA256SUMS"}
        self.assertEqual(listed, found)

    def test_the_bill_of_materials_lists_the_archive_and_its_parts(self):
        bill = json.loads(one(BILL).read_text())
        listed = {f["fileName"][2:]: f["checksums"][0]["checksumValue"] for f in bill["files"]}
        with tarfile.open(one(ARCHIVE)) as archive:
            for member in archive.getmembers():
                inside = "/".join(Path(member.name).parts[1:])
                if not member.isfile() or inside.endswith("spdx.json"):
                    continue
                data = archive.extractfile(member).read()
                self.assertEqual(listed.pop(inside), hashlib.sha256(data).hexdigest(), inside)
        self.assertEqual(listed, {})
        names = {package["name"] for package in bill["packages"]}
        self.assertLessEqual({"kernelmill", "LLVM", "zstd", "libstdc++"}, names)


if __name__ == "__main__":
    unittest.main()
