#!/usr/bin/env python3
"""Compiles and runs the example with which each public header begins, as C11 and as C++17.

examples.py --gcc GCC --prefix STAGE. All examples are functions of one program; what they go on
from (a device, a stream, a slice, a kernel) is said in c_api.h and made by PROGRAM.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HEADERS = Path(__file__).resolve().parents[2] / "include" / "kernelmill"
EXAMPLE = re.compile(r"\A/\*(?:(?!\*/)[\s\S])*?^ \* Example:\n((?: \*   .*\n)+)", re.M)
MOST_LINES = 12
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion"]
PROGRAM = r"""
#include <kernelmill/helpers.h>

static const char scale_ptx[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".visible .entry scale(.param .u64 x, .param .f32 factor) {\n"
    "  .reg .b32 %r<5>;\n  .reg .b64 %d<4>;\n  .reg .f32 %f<3>;\n"
    "  ld.param.u64 %d0, [x];\n  ld.param.f32 %f0, [factor];\n"
    "  mov.u32 %r0, %ctaid.x;\n  mov.u32 %r1, %ntid.x;\n  mov.u32 %r2, %tid.x;\n"
    "  mad.lo.s32 %r3, %r0, %r1, %r2;\n  mul.wide.u32 %d1, %r3, 4;\n"
    "  cvta.to.global.u64 %d2, %d0;\n  add.s64 %d3, %d2, %d1;\n"
    "  ld.global.f32 %f1, [%d3];\n  mul.f32 %f2, %f1, %f0;\n  st.global.f32 [%d3], %f2;\n"
    "  ret;\n}\n";
typedef struct objects {
  km_device device;
  km_context context;
  km_stream stream;
  km_function scale;
  km_slice x;
} objects;

@EXAMPLES@
int main(void) {
  objects of;
  km_module module;
  KM_CHECK(km_device_open("cpu", &of.device));
  KM_CHECK(km_context_create(of.device, &of.context));
  KM_CHECK(km_context_default_stream(of.context, &of.stream));
  KM_CHECK(km_module_load_ptx(of.context, scale_ptx, 0, NULL, &module));
  KM_CHECK(km_module_function(module, "scale", &of.scale));
  KM_CHECK(km_slice_create(of.context, 256, sizeof(float), KM_SLICE_ZEROED, &of.x));
@CALLS@  KM_CHECK(km_context_synchronize(of.context));
  return 0;
}
"""
GIVEN = """static void example_@(const objects* of) {
  const km_device device = of->device;
  const km_context context = of->context;
  const km_stream stream = of->stream;
  const km_function scale = of->scale;
  const km_slice x = of->x;
  (void)device, (void)context, (void)stream, (void)scale, (void)x;
  {
"""


def examples() -> dict:
    """The name of a header -> the lines of its example."""
    found = {}
    for path in sorted(HEADERS.glob("*.h")):
        match = EXAMPLE.match(path.read_text())
        if not match:
            raise SystemExit(f"{path} does not begin with an example")
        lines = [line[len(" *   ") :] for line in match[1].splitlines()]
        if len(lines) > MOST_LINES:
            raise SystemExit(f"{path}: an example of {len(lines)} lines; at most {MOST_LINES}")
        found[path.stem] = lines
    return found


def program(found: dict) -> str:
    functions, calls = [], []
    for name, lines in found.items():
        body = "\n".join(f"    {line}" for line in lines)
        functions.append(GIVEN.replace("@", name) + f"{body}\n  }}\n}}\n")
        calls.append(f'  puts("{name}.h");\n  example_{name}(&of);\n')
    text = PROGRAM.replace("@EXAMPLES@", "\n".join(functions))
    return text.replace("@CALLS@", "".join(calls))


def build_and_run(command: list, source: Path, prefix: Path, library: Path) -> int:
    target = source.with_suffix(".run")
    build = [*command, *WARNINGS, "-I", prefix / "include", source, "-o", target,
             library, f"-Wl,-rpath,{library.parent}"]
    built = subprocess.run(build, capture_output=True, text=True)
    if built.returncode != 0:
        print(built.stderr)
        return 1
    done = subprocess.run([target], cwd=source.parent, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{done.stdout[-2000:]}{done.stderr}\n{target.name}: status {done.returncode}")
        return 1
    return 0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--gcc", required=True)
    parser.add_argument("--prefix", type=Path, required=True)
    parser.add_argument("--library", type=Path, required=True)
    options = parser.parse_args()
    text = program(examples())
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for level, ending in (("c11", "c"), ("c++17", "cpp")):
            source = Path(folder) / f"{level}.{ending}"
            source.write_text(text)
            command = [options.gcc, f"-std={level}"]
            failed += build_and_run(command, source, options.prefix, options.library)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
