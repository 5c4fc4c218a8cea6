"""The packages of the bindings, from outside of the checkout; and equal bytes from two runs."""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

from packages import ARCHIVE, BUILD, DIST, HERE, ROOT, WHEEL, Case, one, version

sys.path.insert(0, str(ROOT / "packaging"))
from bindings import GO_MODULE, tools  # noqa: E402

STAGE = BUILD / "stage/lib"
GO_PROGRAM = """package main

import (
  "fmt"

  "github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

func main() {
  build, err := kernelmill.Build()
  fmt.Println(build.Version[0], err)
}
"""
RUST_PROGRAM = """fn main() {
    println!("{:?}", kernelmill::version().unwrap());
}
"""


def build_in_go(case: Case, **settings) -> None:
    """Makes the program `outside` with the module of the release, in the test's folder."""
    go = tools()["go"]
    (case.folder / "main.go").write_text(GO_PROGRAM)
    settings = {"GOPROXY": f"file://{DIST}/go-proxy", "GOSUMDB": "off", "GOFLAGS": "-mod=mod",
                "GOMODCACHE": str(case.folder / "modules"), "GOTOOLCHAIN": "local", **settings}
    case.run_here(go, "mod", "init", "outside", **settings)
    case.run_here(go, "get", f"{GO_MODULE}@v{version()}", **settings)
    case.run_here(go, "build", "-modcacherw", "-o", "outside", ".", **settings)


class Go(Case):
    def test_go_get_from_the_proxy(self):
        build_in_go(self)
        said = self.run_here("./outside", KM_LIBRARY_DIR=str(STAGE))
        self.assertEqual(said.strip(), "1 <nil>")


class Zig(Case):
    def test_zig_fetch_gives_the_hash_that_is_published(self):
        (self.folder / "build.zig").write_text("")
        said = self.run_here(tools()["zig"], "fetch", "--global-cache-dir", self.folder / "cache",
                             one("kernelmill-zig-*.tar.gz"))
        published = one("kernelmill-zig-*.hash").read_text()
        self.assertEqual(said, published)
        self.assertRegex(published, rf"^kernelmill-{re.escape(version())}-\S+\n$")


class Crates(Case):
    """They have been built from what they hold by make dist; here a program uses them."""

    def setUp(self):
        super().setUp()
        patches = ""
        for crate in sorted(DIST.glob("*.crate")):
            subprocess.run(["tar", "-xzf", crate, "-C", self.folder], check=True)
            name = crate.name.rsplit("-", 1)[0]
            patches += f'{name} = {{ path = "../{crate.stem}" }}\n'
        self.program = self.folder / "program"
        (self.program / "src").mkdir(parents=True)
        (self.program / "src/main.rs").write_text(RUST_PROGRAM)
        (self.program / "Cargo.toml").write_text(
            '[package]\nname = "program"\nversion = "0.1.0"\nedition = "2021"\n'
            f'[features]\nbundled = ["kernelmill/bundled"]\n'
            f'[dependencies]\nkernelmill = "{version()}"\n[workspace]\n'
            f"[patch.crates-io]\n{patches}")
        numbers = version().replace(".", ", ")
        self.version = f"({numbers})\n"

    def cargo(self, *words, **settings) -> str:
        cargo_home = os.environ.get("CARGO_HOME") or str(Path.home() / ".cargo")
        rustup_home = os.environ.get("RUSTUP_HOME") or str(Path.home() / ".rustup")
        return self.run_here(tools()["cargo"], words[0], "--quiet", "--offline", "--manifest-path",
                             self.program / "Cargo.toml", *words[1:], CARGO_HOME=cargo_home,
                             RUSTUP_HOME=rustup_home, PKG_CONFIG_LIBDIR="/nonexistent", **settings)

    def unpacked_archive(self) -> Path:
        subprocess.run(["tar", "-xf", one(ARCHIVE), "-C", self.folder], check=True)
        return self.folder / f"kernelmill-{version()}-linux-{HERE}"

    def test_a_program_finds_the_library_at_run_time(self):
        """That of an archive by KM_LIBRARY_DIR and by PATH, and that of the wheel."""
        self.cargo("build")
        built = self.program / "target/debug/program"
        tree = self.unpacked_archive()
        self.assertEqual(self.run_here(built, KM_LIBRARY_DIR=str(tree / "lib")), self.version)
        self.assertEqual(self.run_here(built, PATH=f"{tree}/bin:/usr/bin:/bin"), self.version)
        self.run_here(sys.executable, "-m", "venv", "env")
        self.run_here(self.folder / "env/bin/pip", "install", "--quiet", "--no-deps",
                      one(WHEEL))
        environment = self.folder / "env"
        self.assertEqual(self.run_here(built, VIRTUAL_ENV=str(environment)), self.version)
        path = f"{environment}/bin:/usr/bin:/bin"
        self.assertEqual(self.run_here(built, PATH=path), self.version)

    def test_the_bundled_library_is_that_of_the_release(self):
        archive = one(ARCHIVE)
        with self.first_kernel("the feature bundled (without the kernel)"):
            said = self.cargo("run", "--features", "bundled", KM_BUNDLED_ARCHIVE=str(archive))
        self.assertEqual(said, self.version)
        # cargo has it now: no archive is asked for again.
        built = self.program / "target/debug/program"
        self.assertEqual(self.run_here(built, PATH="/usr/bin:/bin"), self.version)
        other = self.folder / "other.tar.xz"
        other.write_bytes(archive.read_bytes()[:-1])
        done = subprocess.run([tools()["cargo"], "build", "--offline", "--features", "bundled"],
                              cwd=self.program, text=True, capture_output=True, check=False,
                              env={**os.environ, "KM_BUNDLED_ARCHIVE": str(other),
                                   "CARGO_TARGET_DIR": str(self.folder / "target")})
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("is not the archive of this release: its SHA-256 is", done.stderr)


class Reproducible(Case):
    def test_two_runs_give_equal_bytes(self):
        again = self.folder / "again"
        builds = [BUILD]
        if list(DIST.glob("*_arm64.deb")):  # made with ARCH="x86_64 arm64"
            builds.append(BUILD.with_name("dist-arm64"))
        words = [word for build in builds for word in ("--build", build)]
        self.run_here(sys.executable, ROOT / "packaging/dist.py", *words, "--output", again,
                      "--no-crates")
        first = (DIST / "SHA256SUMS").read_text().splitlines()
        without_crates = [line for line in first if not line.endswith(".crate")]
        self.assertEqual((again / "SHA256SUMS").read_text().splitlines(), without_crates)


if __name__ == "__main__":
    unittest.main()
