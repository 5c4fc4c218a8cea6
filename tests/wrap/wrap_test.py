#!/usr/bin/env python3
"""Wrappers in one language: what is right compiles and runs, each wrong type is refused.

    wrap_test.py LANGUAGE --tool KERNELMILL --stage PREFIX --compiler PATH --build FOLDER

The wrapper of kernels.cu is made anew. For each kernel there is a function with parameters of just
the types that the wrapper has, which calls it; and for each parameter one that gives an argument of
another type. The compiler has to take the former and refuse every one of the latter. Then a program
runs; its wrapper is made by its build: build.rs, `go generate`, build.zig.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
INSTANCES = ["scale<float>", "scale<double>"]
LEAST_KERNELS = 30


@dataclass
class Kernel:
    name: str
    params: list  # of (name, type)


@dataclass
class Language:
    start: str  # pattern of a function's head, up to its parameters; the group is its name
    end: str  # of the parameters
    param: str  # pattern of a parameter: (?P<name>), (?P<type>)
    is_told_apart: str  # pattern of types that the language does not convert
    function: str  # a function that calls a kernel
    head: str  # before the functions
    source: str  # of the functions


LANGUAGES = {
    "c": Language(
        r"static inline km_status typed_(\w+)\(const typed_kernels\* kernels, km_stream stream,\s*"
        r"const km_launch_config\* config", r"\) \{",
        r"(?P<type>.+) (?P<name>\w+)", r"typed_\w+",
        "km_status f{number}(const typed_kernels* k, km_stream s, "
        "const km_launch_config* c{params}) {{ return typed_{name}(k, s, c{arguments}); }}",
        '#include "typed.h"\n', "calls.c"),
    "cpp": Language(
        r"\n  void (\w+)\(const km::stream& stream, km::dim3 grid, km::dim3 block, "
        r"std::uint64_t shared_bytes", r"\) const \{",
        r"(?P<type>.+) (?P<name>\w+)", r"const km::detail::elements<.+|[A-Z]\w+|geo_\w+|float4",
        "void f{number}(const typed::kernels& k, const km::stream& s{params})"
        " {{ k.{name}(s, {{1, 1, 1}}, {{1, 1, 1}}, 0{arguments}); }}",
        '#include "typed.hpp"\nusing namespace typed;\n', "calls.cpp"),
    "rust": Language(
        r"pub unsafe fn (\w+)(?:<[^(]*>)?\(\s*&self,\s*stream: &kernelmill::Stream,\s*"
        r"config: kernelmill::LaunchConfig,", r"\) -> ",
        r"(?P<name>\w+): (?P<type>.+)", r".+",
        "pub unsafe fn f{number}(k: &Kernels, s: &Stream, c: LaunchConfig{params}) "
        "{{ let _ = unsafe {{ k.{name}(s, c{arguments}) }}; }}",
        "#![allow(dead_code, clippy::all)]\nuse crate::typed::*;\n"
        "use kernelmill::{LaunchConfig, Stream};\n", "src/calls.rs"),
    "go": Language(
        r"\nfunc \(kernels \*Kernels\) (\w+)\(\s*stream \*kernelmill.Stream, "
        r"grid, block \[3\]int, sharedBytes uint64,", r"\) error \{",
        r"(?P<name>\w+) (?P<type>.+)", r".+",
        "func F{number}(k *Kernels, s *kernelmill.Stream, g [3]int{params}) error "
        "{{ return k.{name}(s, g, g, 0{arguments}) }}",
        'package typed\n\nimport "github.com/kernelmill/kernelmill/bindings/go/kernelmill"\n',
        "typed/calls.go"),
    "zig": Language(
        r"pub fn launch(\w+)\(\s*self: Kernels,\s*stream: km.Stream,\s*config: km.LaunchConfig,",
        r"\) km.Error!void", r"(?P<name>\w+): (?P<type>.+)", r"km\.Slice.+|[A-Z]\w+|\[4\]f32|bool",
        "pub fn call{number}(k: typed.Kernels, s: km.Stream, c: km.LaunchConfig{params}) !void "
        "{{ try k.launch{name}(s, c{arguments}); }}",
        'const km = @import("kernelmill");\nconst typed = @import("typed");\n', "calls.zig"),
}
FILES = {"c": "typed.h", "cpp": "typed.hpp", "rust": "src/typed.rs", "go": "typed/typed.go",
         "zig": "typed.zig"}
# Types that take anything, by design.
ANY = re.compile(r"km_slice$|any_slice|anytype|Slice(Mut)?<T\d+>|kernelmill\.Memory|const void\*")


def read_kernels(text, language):
    """The kernels of a wrapper with their parameters, as the text has them."""
    found = []
    for match in re.finditer(language.start, text):
        rest = text[match.end():]
        listed = rest[:re.search(language.end, rest).start()]
        params = [re.fullmatch(language.param, part.strip())
                  for part in re.split(r",\s*\n|,\n", listed) if part.strip(" \n,")]
        found.append(Kernel(match[1], [(each["name"], each["type"]) for each in params]))
    return found


def spelled(language, name, kind):
    """A parameter as the language declares it, with names of the wrapper made whole."""
    if language == "zig":
        kind = re.sub(r"(?<![\w.])(?=[A-Z]\w)", "typed.", kind.replace("anytype", "km.Slice(u8)"))
        return f"{name}: {kind}"
    if language == "rust":
        return f"{name}: {re.sub(r'T[0-9]+', 'u8', kind)}"
    return f"{name} {kind}" if language == "go" else f"{kind} {name}"


def call(language, number, kernel, params):
    listed = "".join(f", {spelled(language, f'a{i}', kind)}" for i, kind in enumerate(params))
    arguments = "".join(f", a{i}" for i in range(len(params)))
    return LANGUAGES[language].function.format(
        number=number, name=kernel.name, params=listed, arguments=arguments)


def wrong_calls(language, kernels):
    """For each parameter that the language tells apart, the call with the next other type."""
    told = re.compile(LANGUAGES[language].is_told_apart)
    kinds = sorted({kind for kernel in kernels for _, kind in kernel.params
                    if told.fullmatch(kind) and not ANY.search(kind)})
    core = {kind: kind.replace("&mut ", "&") for kind in kinds}
    calls = []
    for kernel in kernels:
        own = [kind for _, kind in kernel.params]
        for i, kind in enumerate(own):
            if kind not in core:
                continue
            at = kinds.index(kind)
            other = next(each for each in kinds[at + 1:] + kinds if core[each] != core[kind])
            calls.append((kernel, [*own[:i], other, *own[i + 1:]]))
    return calls


class Check:
    def __init__(self, options):
        self.language, self.options = options.language, options
        self.folder = Path(options.build)
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(HERE / "programs" / self.language, self.folder)
        for file in self.folder.rglob("*.in"):
            text = file.read_text().replace("@ROOT@", str(ROOT))
            file.with_suffix("").write_text(text)
            file.unlink()
        shutil.copy(HERE / "kernels.cu", self.folder)
        if self.language == "zig":
            (self.folder / "package").symlink_to(ROOT / "bindings" / "zig")
        self.wrapper = self.folder / FILES[self.language]
        self.wrapper.parent.mkdir(exist_ok=True)

    def run(self, *words):
        words = [str(word) for word in words]
        tool = Path(self.options.tool)
        variables = {**os.environ, "KERNELMILL": str(tool),
                     "PATH": f"{tool.parent}:{os.environ.get('PATH', '')}"}
        return subprocess.run(words, cwd=self.folder, text=True, capture_output=True,
                              errors="replace", timeout=280, env=variables, check=False)

    def must_run(self, *words):
        done = self.run(*words)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, words))}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def make_wrapper(self, *options):
        instances = [word for each in INSTANCES for word in ("--instantiate", each)]
        self.must_run(self.options.tool, "wrap", HERE / "kernels.cu", "--lang", self.language,
                      "--name", "typed", "-o", self.wrapper, *options, *instances)
        return read_kernels(self.wrapper.read_text(), LANGUAGES[self.language])

    def write_calls(self, calls):
        language = LANGUAGES[self.language]
        head = language.head
        lines = [call(self.language, i, kernel, own) for i, (kernel, own) in enumerate(calls)]
        if self.language == "zig":  # a function that nobody uses is not looked at
            head += "comptime { for (@typeInfo(@This()).@\"struct\".decls) |each| " \
                    "{ _ = &@field(@This(), each.name); } }\n"
        (self.folder / language.source).write_text(head + "\n".join(lines) + "\n")
        return head.count("\n") + 1

    def compile_words(self):
        prefix, compiler = Path(self.options.stage), self.options.compiler
        return {
            "c": [compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                  f"-I{prefix}/include", "calls.c"],
            "cpp": [compiler, "-std=c++17", "-Wall", "-fsyntax-only", "-fmax-errors=0",
                    f"-I{prefix}/include", "calls.cpp"],
            "rust": [compiler, "check", "--offline", "--quiet"],
            "go": [compiler, "build", "-gcflags=-e", "./typed"],
            "zig": [compiler, "build", "calls"],
        }[self.language]

    def refused_lines(self, output):
        source = re.escape(Path(LANGUAGES[self.language].source).name)
        return {int(line) for line in re.findall(rf"{source}:(\d+):", output)}

    def check(self):
        kernels = self.make_wrapper("--nvrtc=--device-int128")
        if len(kernels) < LEAST_KERNELS:
            sys.exit(f"only {len(kernels)} kernels are read from the wrapper")
        self.write_calls([(kernel, [kind for _, kind in kernel.params]) for kernel in kernels])
        self.must_run(*self.compile_words())
        print(f"{len(kernels)} kernels: calls with the right types compile")
        calls = wrong_calls(self.language, kernels)
        first = self.write_calls(calls)
        done = self.run(*self.compile_words())
        refused = self.refused_lines(done.stdout + done.stderr)
        taken = [call(self.language, i, kernel, own) for i, (kernel, own) in enumerate(calls)
                 if first + i not in refused]
        if done.returncode == 0 or taken or len(calls) < LEAST_KERNELS:
            print(*taken[:5], f"{len(taken)} of {len(calls)} wrong calls compile",
                  (done.stdout + done.stderr)[-3000:], sep="\n")
            return 1
        print(f"{len(calls)} calls with a wrong type are refused")
        self.write_calls([])
        return self.run_program()

    def run_program(self):
        prefix, compiler = Path(self.options.stage), self.options.compiler
        os.environ["WRAP_PROGRAM_ONLY"] = "1"
        link = [f"-I{prefix}/include", f"-L{prefix}/lib", "-lkernelmill",
                f"-Wl,-rpath,{prefix}/lib", "-o", "program"]
        if self.language in ("c", "cpp"):
            self.make_wrapper("-DPROGRAM_ONLY", "--object", "--block", "32")
            self.must_run(compiler, f"main.{self.language}", *link)
            print(self.must_run("./program"))
        else:
            if self.language == "go":
                (self.folder / LANGUAGES["go"].source).unlink()  # it would use nothing
                self.wrapper.unlink()
                self.must_run(compiler, "generate", ".")
            words = {"rust": ["run", "--offline", "--quiet"], "go": ["run", "."],
                     "zig": ["build", "run"]}[self.language]
            print(self.must_run(compiler, *words))
        return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("language", choices=LANGUAGES)
    for name in ("tool", "stage", "compiler", "build"):
        parser.add_argument(f"--{name}", required=True)
    return Check(parser.parse_args()).check()


if __name__ == "__main__":
    os.environ.setdefault("KM_CACHE_DIR", "off")
    sys.exit(main())
