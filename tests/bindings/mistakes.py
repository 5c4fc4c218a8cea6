#!/usr/bin/env python3
"""Makes the mistakes of docs/guide/mistakes.md in one language: mistakes.py LANGUAGE COMPILER.

The code of the page is compiled as it stands, within a program that has `context`, `stream`,
`scale` and `x`. The compiler or the failed call has to give the page's message. Builds take place
in the folder that TEST_FOLDER names, so that they keep what compilers have made before.
"""

import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from mistakes import ROOT, mistakes  # noqa: E402

KERNEL = """extern "C" __global__ void scale(float* x, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}
"""
PTX = """.version 7.0
.target sm_70
.address_size 64
.visible .entry scale(.param .u64 x, .param .f32 factor, .param .u32 n)
{ ret; }
"""
CPP = """#include <kernelmill/kernelmill.hpp>

#include <cstdio>
#include <vector>

struct Objects {
  km::context context{"cpu"};
  km::stream stream{context};
  km::module module = km::module::load_file(context, "scale.cu");
  km::function scale = module.function("scale");
  km::slice<float> x{context, 1024};
};

%s
int main() {
%s  return 0;
}
"""
CPP_MISTAKE = """static void mistake_%d(Objects& objects) {
  auto& [context, stream, module, scale, x] = objects;
  (void)context, (void)stream, (void)module, (void)scale, (void)x;
  %s
}
"""
CPP_CALL = """  try {
    Objects objects;
    mistake_%d(objects);
  } catch (const km::error& error) {
    std::printf("%d %%s\\n", error.what());
  }
"""
RUST = """#![allow(unused)]
use kernelmill::{Context, Device, Function, LaunchConfig, Slice, Stream};

%s
fn main() {
%s}
"""
RUST_MISTAKE = """fn mistake_%d() -> kernelmill::Result<()> {
    let context = Context::open("cpu")?;
    let stream = context.default_stream()?;
    let scale = context.load_file("scale.cu")?.load_function("scale")?;
    let mut x = context.alloc_zeros::<f32>(1024)?;
    %s
    Ok(())
}
"""
RUST_CALL = """    if let Err(error) = mistake_%d() { println!("%d {error}"); }
"""
CARGO = """[package]
name = "mistakes"
version = "0.0.0"
edition = "2024"

[dependencies]
kernelmill = { path = "%s/bindings/rust/kernelmill" }

[workspace]
"""
GO = """package main

import (
    "fmt"
    "log"

    "github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

func check[T any](value T, err error) T {
    if err != nil {
        log.Fatal(err)
    }
    return value
}

type objects struct {
    context *kernelmill.Context
    stream  *kernelmill.Stream
    scale   *kernelmill.Function
    x       *kernelmill.Slice[float32]
}

func open() objects {
    context := check(kernelmill.Open("cpu"))
    stream := check(context.NewStream())
    module := check(context.LoadFile("scale.cu"))
    x := check(kernelmill.NewZeroedSlice[float32](context, 1024))
    return objects{context, stream, check(module.Function("scale")), x}
}

%s
func main() {
%s}
"""
GO_MISTAKE = """func mistake%d(o objects) error {
    context, stream, scale, x := o.context, o.stream, o.scale, o.x
    _, _, _, _ = context, stream, scale, x
    %s
    return err
}
"""
GO_CALL = """    fmt.Println("%d", mistake%d(open()))
"""
GO_MODULE = """module kernelmill.example/mistakes

go 1.24

require github.com/kernelmill/kernelmill/bindings/go v0.0.0

replace github.com/kernelmill/kernelmill/bindings/go => %s/bindings/go
"""
ZIG = """const std = @import("std");
const km = @import("kernelmill");

var diagnostics: km.Diagnostics = .{};
var context: km.Context = undefined;
var stream: km.Stream = undefined;
var scale: km.Function = undefined;
var x: km.Slice(f32) = undefined;
const Kernels = km.embedKernels(@embedFile("scale.ptx"));

fn open() !void {
    context = try .open("cpu", &diagnostics);
    stream = try .init(context);
    scale = try (try km.Module.loadFile(context, "scale.cu")).function("scale");
    x = try .initZeroed(context, 1024);
}

%s
pub fn main() !void {
%s}
"""
ZIG_MISTAKE = """fn mistake%d() !void {
    try open();
    %s
}
"""
ZIG_CALL = """    if (mistake%d()) {} else |_| {
        std.debug.print("%d {s}\\n", .{diagnostics.message()});
    }
"""
ZIG_BUILD = """const std = @import("std");

pub fn build(b: *std.Build) void {
    const target = b.standardTargetOptions(.{});
    const package = b.dependency("kernelmill", .{ .target = target, .optimize = .Debug });
    const root = b.option([]const u8, "root", "the program's file") orelse "main.zig";
    b.installArtifact(b.addExecutable(.{ .name = "mistakes", .root_module = b.createModule(.{
        .root_source_file = b.path(root),
        .target = target,
        .optimize = .Debug,
        .imports = &.{.{ .name = "kernelmill", .module = package.module("kernelmill") }},
    }) }));
}
"""
ZIG_MANIFEST = """.{
    .name = .fetched,
    .version = "0.0.0",
    .fingerprint = 0x1c63869121d82d4b,
    .minimum_zig_version = "0.16.0",
    .dependencies = .{ .kernelmill = .{ .path = "%s" } },
    .paths = .{"build.zig"},
}
"""


class Language:
    """Builds and runs programs in a folder."""

    program, mistake, call = "", "", ""
    main = ""
    indent = "    "

    def __init__(self, compiler: str, folder: Path):
        self.compiler, self.folder = compiler, folder
        self.write("scale.cu", KERNEL)

    def write(self, name: str, text: str) -> None:
        """Leaves a file alone that has this text: its time is what builds go by."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")

    def source(self, made: list) -> str:
        """A program that makes the mistakes, one after the other."""
        functions, calls = "", ""
        for mistake in made:
            code = mistake.code.replace("\n", "\n" + self.indent)
            functions += self.mistake % (mistake.number, code)
            calls += self.call % (mistake.number, mistake.number)
        return self.program % (functions, calls)

    def run(self, *words, **settings):
        return subprocess.run([str(word) for word in words], cwd=self.folder, text=True,
                              env={**os.environ, **settings}, capture_output=True, check=False)

    def build(self, name: str):
        raise NotImplementedError

    def built(self) -> Path:
        return self.folder / "mistakes"


class Cpp(Language):
    program, mistake, call, main, indent = CPP, CPP_MISTAKE, CPP_CALL, "main.cpp", "  "

    def build(self, name: str):
        library = os.environ["KM_LIBRARY_DIR"]
        return self.run(self.compiler, "-std=c++17", name, "-o", "mistakes", "-I",
                        f"{library}/../include", "-L", library, "-lkernelmill",
                        f"-Wl,-rpath,{library}")


class Rust(Language):
    program, mistake, call, main = RUST, RUST_MISTAKE, RUST_CALL, "src/main.rs"

    def build(self, name: str):
        self.write("Cargo.toml", CARGO % ROOT)
        if not (self.folder / "Cargo.lock").exists():  # the versions that there are offline
            self.write("Cargo.lock", (ROOT / "bindings/rust/Cargo.lock").read_text("utf-8"))
        return self.run(self.compiler, "build", "--quiet", "--offline")

    def built(self) -> Path:
        return Path(os.environ["CARGO_TARGET_DIR"]) / "debug/mistakes"


class Go(Language):
    program, mistake, call, main, indent = GO, GO_MISTAKE, GO_CALL, "main.go", "    "

    def build(self, name: str):
        self.write("go.mod", GO_MODULE % ROOT)
        return self.run(self.compiler, "build", "-o", "mistakes", ".")


class Zig(Language):
    program, mistake, call, main = ZIG, ZIG_MISTAKE, ZIG_CALL, "main.zig"

    def build(self, name: str):
        self.write("scale.ptx", PTX)
        self.write("build.zig", ZIG_BUILD)
        self.write("build.zig.zon",
                   ZIG_MANIFEST % os.path.relpath(ROOT / "bindings/zig", self.folder))
        return self.run(self.compiler, "build", f"-Droot={name}")

    def built(self) -> Path:
        return self.folder / "zig-out/bin/mistakes"


LANGUAGES = {"cpp": Cpp, "rust": Rust, "go": Go, "zig": Zig}


def what_is_said(language: Language, made: list) -> dict:
    """Number -> message of those that make programs which compile."""
    language.write(language.main, language.source(made))
    done = language.build(language.main)
    if done.returncode != 0:
        raise SystemExit(f"the program does not compile:\n{done.stdout}{done.stderr}")
    said = {}
    for variables in {tuple(mistake.variables.items()) for mistake in made}:
        done = language.run(language.built(), **dict(variables))
        lines = (done.stdout + done.stderr).splitlines()
        messages = dict(line.split(" ", 1) for line in lines if " " in line)
        for mistake in made:
            if tuple(mistake.variables.items()) == variables:
                said[mistake.number] = messages.get(str(mistake.number), "nothing: " + str(done))
    return said


def main() -> int:
    name, compiler = sys.argv[1:]
    folder = Path(os.environ["TEST_FOLDER"], name)
    language = LANGUAGES[name](compiler, folder)
    made = [mistake for mistake in mistakes() if mistake.language == name]
    said = what_is_said(language, [mistake for mistake in made if mistake.compiles])
    for mistake in made:
        if not mistake.compiles:
            wrong = f"wrong_{mistake.number}{Path(language.main).suffix}"
            language.write(wrong, language.source([mistake]))
            done = language.build(wrong)
            found = mistake.pattern.search(done.stderr) if done.returncode != 0 else None
            said[mistake.number] = found[0] if found else f"{done.returncode}: {done.stderr}"
    failures = 0
    for mistake in made:
        if not mistake.pattern.fullmatch(said[mistake.number]):
            failures += 1
            print(f"{mistake}\n  expected: {mistake.message}\n  said: {said[mistake.number]}")
    print(f"{len(made)} mistakes in {name}, {failures} with another message")
    return 1 if failures or not made else 0


if __name__ == "__main__":
    sys.exit(main())
