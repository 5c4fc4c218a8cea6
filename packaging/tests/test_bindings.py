"""The packages of the bindings, from outside of the checkout; and equal bytes from two runs."""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

from packages import BUILD, DIST, ROOT, Case, one, version

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


class Go(Case):
    def test_go_get_from_the_proxy(self):
        go = tools()["go"]
        (self.folder / "main.go").write_text(GO_PROGRAM)
        settings = {"GOPROXY": f"file://{DIST}/go-proxy", "GOSUMDB": "off", "GOFLAGS": "-mod=mod",
                    "GOMODCACHE": str(self.folder / "modules"), "GOTOOLCHAIN": "local",
                    "PKG_CONFIG_LIBDIR": str(STAGE / "pkgconfig"),
                    "CGO_LDFLAGS": f"-Wl,-rpath,{STAGE}"}
        self.run_here(go, "mod", "init", "outside", **settings)
        self.run_here(go, "get", f"{GO_MODULE}@v{version()}", **settings)
        self.run_here(go, "build", "-modcacherw", "-o", "outside", ".", **settings)
        self.assertEqual(self.run_here("./outside").strip(), "1 <nil>")


class Zig(Case):
    def test_zig_fetch_gives_the_hash_that_is_published(self):
        (self.folder / "build.zig").write_text("")
        said = self.run_here(tools()["zig"], "fetch", "--global-cache-dir", self.folder / "cache",
                             one("kernelmill-zig-*.tar.gz"))
        published = one("kernelmill-zig-*.hash").read_text()
        self.assertEqual(said, published)
        self.assertRegex(published, rf"^kernelmill-{re.escape(version())}-\S+\n$")


class Crates(Case):
    def test_a_program_outside_uses_the_packaged_crates(self):
        """They have been built from what they hold by make dist; here a program uses them."""
        patches = ""
        for crate in sorted(DIST.glob("*.crate")):
            subprocess.run(["tar", "-xzf", crate, "-C", self.folder], check=True)
            name = crate.name.rsplit("-", 1)[0]
            patches += f'{name} = {{ path = "../{crate.stem}" }}\n'
        program = self.folder / "program"
        (program / "src").mkdir(parents=True)
        (program / "src/main.rs").write_text(RUST_PROGRAM)
        (program / "Cargo.toml").write_text(
            '[package]\nname = "program"\nversion = "0.1.0"\nedition = "2021"\n'
            f'[dependencies]\nkernelmill = "{version()}"\n[workspace]\n'
            f"[patch.crates-io]\n{patches}")
        cargo_home = os.environ.get("CARGO_HOME") or str(Path.home() / ".cargo")
        rustup_home = os.environ.get("RUSTUP_HOME") or str(Path.home() / ".rustup")
        said = self.run_here(tools()["cargo"], "run", "--quiet", "--offline", "--manifest-path",
                             program / "Cargo.toml", CARGO_HOME=cargo_home,
                             RUSTUP_HOME=rustup_home, KM_LIBRARY_DIR=str(STAGE))
        numbers = version().replace(".", ", ")
        self.assertEqual(said.strip(), f"({numbers})")


class Reproducible(Case):
    def test_two_runs_give_equal_bytes(self):
        again = self.folder / "again"
        self.run_here(sys.executable, ROOT / "packaging/dist.py", "--build", BUILD, "--output",
                      again, "--no-crates")
        first = (DIST / "SHA256SUMS").read_text().splitlines()
        without_crates = [line for line in first if not line.endswith(".crate")]
        self.assertEqual((again / "SHA256SUMS").read_text().splitlines(), without_crates)


if __name__ == "__main__":
    unittest.main()
