#!/usr/bin/env python3
"""Compiles the C++ headers alone and twice, with all warnings; and what must not compile."""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

INCLUDE = Path(__file__).resolve().parents[2] / "include"
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wsign-conversion", "-Wshadow",
            "-Wundef", "-Werror"]
TWICE = "#include <kernelmill/kernelmill.hpp>\n" * 2
RETURNING = """
template class km::basic_slice<float, km::returning>;
template class km::basic_view<unsigned char, km::returning>;
template class km::basic_host_memory<double, km::returning>;
template class km::basic_pitched_slice<short, km::returning>;
"""
# Every member of the templates, not only those that are used.
CLASS = re.compile(r"^template <class P>\nclass basic_(\w+)(?: :[^;{]*)? \{", re.M)
ALL = TWICE + RETURNING.replace("returning", "throwing") + RETURNING + "".join(
    f"template class km::basic_{name}<km::{policy}>;\n"
    for header in sorted((INCLUDE / "cpp").glob("*.hpp"))
    for name in CLASS.findall(header.read_text())
    for policy in ("throwing", "returning"))
FACADE = "#include <infinicore/context/runtime.hpp>\n" * 2
# std::mdspan, where a C++ library has it.
MDSPAN = TWICE + """
#include <array>
#if !defined(__cpp_lib_mdspan)
#error "has no mdspan"
#endif
inline void both(const km::stream& stream, const km::slice<float>& slice, float* data) {
  const std::mdspan picture(data, 3, 4);
  km::upload(stream, slice, picture);
  km::download(stream, slice, picture);
  km::upload(stream, slice, std::mdspan<const float, std::dextents<int, 3>>(data, 1, 2, 3));
  auto here = km::host_mdspan(slice, 3, 4);
  static_assert(decltype(here)::rank() == 2);
}
"""
NO_EXCEPTIONS = TWICE + RETURNING + """
int f();
int f() {
  auto stream = km::nothrow::context::create("cpu").and_then(
      [](km::nothrow::context&& context) { return km::nothrow::stream::create(context); });
  return stream ? stream->synchronize().status() : stream.error().status();
}
"""
# Each goes into a function: what works, and what the compiler has to refuse with that word.
WORKS = "km::stream two = std::move(stream); two.launch(function).args(slice, part, 1.0f, 2);"
REFUSED = {
    "a copy of a stream": ("km::stream two = stream;", "delete"),
    "a stream as an event": ("stream.wait(stream);", "event"),
    "an event's handle as a stream": ("km::stream two(event.get());", "km_event"),
    "ints for floats": ("std::vector<int> host(4); slice.upload(stream, host);", "int"),
    "download into const": (
        "const std::vector<float> host(4); slice.download(stream, host);", "const"),
    "a pointer as an argument": (
        "float* host = nullptr; stream.launch(function).args(host);", "not a pointer"),
    "a string as an argument": (
        "stream.launch(function).args(std::string());", "kernels take bytes"),
    "a slice of strings": ("km::slice<std::string> strings(context, 1);", "devices know bytes"),
    "a fill with doubles": (
        "km::slice<double> wide(context, 1); wide.fill(stream, 1.0);", "1, 2 or 4 bytes"),
    "a view as a slice": ("km::slice<float> two = slice.part(0, 1);", "view"),
    "a callback that may throw": ("stream.add_callback([](km_status) {});", "noexcept"),
    "a number as a device": ("km::context two(1);", "context"),
    "a result that nobody looks at": ("km::nothrow::stream().synchronize();", "nodiscard"),
    "BLAS with two types": (
        "km::blas(stream).axpy(1, 1, slice, km::slice<double>());", "elements of one type"),
    "a dot product in another type": (
        "km::blas(stream).dot(1, slice, slice, km::slice<double>());", "the result has the type"),
    "a transform of two types": ("km::fft<std::complex<float>, double> two;", "same type of real"),
    "a transform the wrong way": (
        "km::fft<float, std::complex<float>>().inverse(slice, slice);", "is forward"),
    "a transform of other elements": (
        "km::fft<std::complex<float>>().forward(slice, slice);", "of the plan's input"),
    "a host node that may throw": ("km::graph().add_host({}, [](km_status) {});", "noexcept"),
    "a floating-point number to wait for": (
        "stream.write_value(slice, 0, 1.0f);", "integers of 4 or 8"),
    "a pointer for a tuner": (
        "km::tuner().add_scalar(&slice);", "memory is given by add_buffer"),
}
FUNCTION = TWICE + """
void f(km::context& context, km::stream& stream, km::event& event, km::slice<float>& slice,
       km::view<float>& part, const km::function& function);
void f(km::context& context, km::stream& stream, km::event& event, km::slice<float>& slice,
       km::view<float>& part, const km::function& function) {
  (void)context, (void)stream, (void)event, (void)slice, (void)part, (void)function;
  %s
}
"""


class Checker:
    def __init__(self, folder: Path):
        self.folder = folder
        self.failures = 0
        shutil.copytree(INCLUDE, folder / "include")

    def compile(self, command: list, text: str, extra=("-fsyntax-only",)):
        source = self.folder / "source.cpp"
        source.write_text(text)
        arguments = [*command, *WARNINGS, *extra, "-I", self.folder / "include", source]
        return subprocess.run(arguments, capture_output=True, text=True)

    def fail(self, what: str, output: str):
        self.failures += 1
        print(f"{what}\n{output}")

    def accept(self, what: str, done):
        if done.returncode != 0:
            self.fail(f"{what}: does not compile", done.stderr)

    def refuse(self, what: str, done, word: str):
        if done.returncode == 0:
            self.fail(f"{what}: compiled, but must not", "")
        elif word not in done.stderr:
            self.fail(f"{what}: refused, but nothing says '{word}'", done.stderr)

    def check(self, name: str, command: list):
        self.accept(f"{name}, alone and twice", self.compile(command, ALL + FACADE))

    def check_each(self, name: str, command: list):
        """Each header compiles by itself."""
        include = self.folder / "include"
        for header in sorted(include.rglob("*.hpp")):
            path = header.relative_to(include).as_posix()
            done = self.compile(command, f"#include <{path}>\n")
            self.accept(f"{name}, {path} alone", done)

    def check_mdspan(self, command: list):
        """With libc++ where it is installed; Debian's libstdc++ has no mdspan."""
        done = self.compile([*command, "-stdlib=libc++"], "#include <mdspan>\n")
        if done.returncode != 0:
            print("mdspan: left out, no C++ library here has it")
            return
        self.accept("mdspan", self.compile([*command, "-stdlib=libc++"], MDSPAN))

    def check_misuse(self, name: str, command: list):
        # A precompiled header saves a second for each of the lines.
        headers = self.folder / "headers.hpp"
        headers.write_text(TWICE)
        to_gch = ("-x", "c++-header", "-o", f"{headers}.gch")
        self.accept(f"{name}, precompiled", self.compile(command, TWICE, to_gch))
        fast = ("-fsyntax-only", "-Winvalid-pch", "-include", headers)
        self.accept(f"{name}, right use", self.compile(command, FUNCTION % WORKS, fast))
        for what, (line, word) in REFUSED.items():
            self.refuse(f"{name}, {what}", self.compile(command, FUNCTION % line, fast), word)

    def link(self, name: str, command: list):
        """Two files that include the header make one program."""
        objects = []
        for part, body in (("a", "int main() { return 0; }\n"), ("b", "")):
            objects.append(self.folder / f"{part}.o")
            text = TWICE + RETURNING + FACADE + body
            done = self.compile(command, text, ("-c", "-o", objects[-1]))
            self.accept(f"{name}, file {part}", done)
        merged = ["-nostdlib", "-r", "-o", self.folder / "merged.o"]
        done = subprocess.run([command[0], *objects, *merged], capture_output=True, text=True)
        self.accept(f"{name}, two files", done)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--gcc", required=True)
    parser.add_argument("--clang", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(Path(folder))
        for compiler in (options.gcc, options.clang):
            for level in ("17", "20", "23"):
                checker.check(f"{compiler} C++{level}", [compiler, "-x", "c++", f"-std=c++{level}"])
        oldest = [options.gcc, "-x", "c++", "-std=c++17"]
        checker.check_each("gcc C++17", oldest)
        checker.check_mdspan([options.clang, "-x", "c++", "-std=c++23"])
        for level in ("17", "20"):
            bare = [options.gcc, "-x", "c++", f"-std=c++{level}", "-fno-exceptions", "-fno-rtti"]
            checker.accept("no exceptions", checker.compile(bare, NO_EXCEPTIONS))
        checker.check_misuse("gcc C++17", oldest)
        checker.link("gcc C++17", oldest)
        numbers = checker.compile(oldest, "#define KM_HANDLES_AS_U64\n" + ALL)
        checker.accept("numbers for handles", numbers)
    return 1 if checker.failures else 0


if __name__ == "__main__":
    sys.exit(main())
