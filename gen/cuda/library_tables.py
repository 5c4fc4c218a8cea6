"""Types, prototypes and exported functions of NVIDIA's libraries beside the driver, from the public
headers of each: dropin/*/generated/api.h and functions.def.

A new library is a row of LIBRARIES. Only names, numbers and types are taken. The headers of some
libraries come in packages too large for a set-up; while a header lies in none of the folders below,
the committed tables count as fresh.
"""

import collections
import functools
import os
import pathlib
import re
import subprocess
import tempfile
from dataclasses import dataclass, field

from cuda.cuda_driver import ROOT


@dataclass(frozen=True)
class Library:
    name: str  # its room below dropin/
    header: str
    prefix: str  # of its functions and types
    package: str  # where the header comes from, for people
    version: str  # a pattern in the header; its groups are the version's parts
    defines: tuple = ()
    stand_ins: dict = field(default_factory=dict)  # for headers that it includes: {name: text}
    left_out: frozenset = frozenset()  # declared, but not exported
    undeclared: tuple = ()  # exported, but not declared: their parameters are not looked at
    includes: tuple = ()  # lines for types that are not its own
    constants: str = ""  # a pattern for macros whose numbers are taken


LIBRARIES = [
    Library("nvml", "nvml.h", "nvml", "nvidia-nvml-dev",
            r"#define NVML_API_VERSION\s+(\d+)", ("NVML_NO_UNVERSIONED_FUNC_DEFS",),
            undeclared=("nvmlGetFunctionPointer",), constants=r"NVML_DEVICE_ARCH_\w+"),
    Library("nvrtc", "nvrtc.h", "nvrtc", "nvidia-cuda-nvrtc", r"\A()",
            left_out=frozenset({"nvrtcGetTypeName"})),
    Library("curand", "curand.h", "curand", "nvidia-curand",
            r"#define CURAND_VER_MAJOR (\d+)\s+#define CURAND_VER_MINOR (\d+)",
            left_out=frozenset({"curandGenerateBinomial", "curandGenerateBinomialMethod"}),
            stand_ins={"cuda_runtime.h": "typedef struct CUstream_st* cudaStream_t;\n"
                       "typedef enum { MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL } "
                       "libraryPropertyType;\n"},
            includes=('#include "dropin/library/cuda_types.h"\n\n',)),
]  # fmt: skip


def find_header(library):
    """The newest one in the set-up, or in a folder of KM_NVIDIA_INCLUDE; None: there is none."""
    packages = pathlib.Path(os.environ.get("KM_NVRTC") or ROOT / ".deps")
    found = sorted(packages.glob(f"nvidia/cu*/include/{library.header}"))
    folders = filter(None, os.environ.get("KM_NVIDIA_INCLUDE", "").split(":"))
    found += [path for path in (pathlib.Path(each) / library.header for each in folders)
              if path.exists()]  # fmt: skip
    return found[-1] if found else None


def preprocess(library, header, *flags):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in library.stand_ins.items():
            (pathlib.Path(folder) / name).write_text(text)
        command = ["gcc", "-E", "-P", "-x", "c", *(f"-D{each}" for each in library.defines),
                   *flags, "-I", folder, "-I", str(header.parent), "-"]  # fmt: skip
        text = f"#include <{library.header}>\n"
        done = subprocess.run(command, input=text, text=True, check=True, capture_output=True)
    return done.stdout


def split(text):
    """The parameters, by commas outside parentheses."""
    found, depth = [""], 0
    for char in text:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if char == "," and depth == 0:
            found.append("")
        else:
            found[-1] += char
    return [" ".join(each.split()) for each in found if each.strip() not in ("", "void")]


NOT_NAMES = {"int", "long", "char", "short", "unsigned", "double", "float", "size_t"}


def named(parameter, number):
    """(declaration, name), in our spelling."""
    parameter = re.sub(r"\b(?:struct|enum)\s+", "", parameter)
    callback = re.search(r"\(\*(\w+)\)", parameter)
    if callback:
        return parameter, callback[1]
    is_array = parameter.endswith("]")
    parameter = re.sub(r"\s*\[\w*\]$", "", parameter)
    match = re.match(r"^(.*[\s*])(\w+)$", parameter)
    kind, name = parameter, f"argument_{number}"
    if match and match[2] not in NOT_NAMES:
        kind, name = match[1], match[2]
    kind = re.sub(r"\s*\*\s*", "*", kind).strip() + ("*" if is_array else "")
    return f"{re.sub(r'[*](?=[a-z])', '* ', kind)} {name}", name


PROTOTYPE = re.compile(
    r"\b(const\s+char\s*\*|\w+)\s*\b(%s\w+)\s*\(((?:[^()]|\([^()]*\))*)\)\s*;"
)  # fmt: skip


@functools.cache
def read(name):
    """(version, preprocessed text, {symbol: (result, parameters)}); None: there is no header."""
    library = next(each for each in LIBRARIES if each.name == name)
    header = find_header(library)
    if header is None:
        return None
    version = ".".join(re.search(library.version, header.read_text(), re.S).groups())
    text = preprocess(library, header)
    pattern = PROTOTYPE.pattern % library.prefix
    found = {
        symbol: ("const char*" if "*" in result else result,
                 [named(each, i) for i, each in enumerate(split(inside))])
        for result, symbol, inside in re.findall(pattern, text)
        if result != "return" and symbol not in library.left_out
    }  # fmt: skip
    return version, text, dict(sorted(found.items()))


def numbers(library):
    """Lines for macros that stand for numbers."""
    if not library.constants:
        return []
    text = preprocess(library, find_header(library), "-dM")
    found = re.findall(rf"^#define ({library.constants}) (\d+|0x[0-9a-fA-F]+)$", text, re.M)
    return [f"inline constexpr unsigned {name} = {value};\n" for name, value in sorted(found)]


def enums(text):
    """{name: its enumerators}, by the name that functions use."""
    found = {name: body for body, name in re.findall(
        r"typedef\s+enum\s*\w*\s*\{([^{}]*)\}\s*(\w+)\s*;", text)}  # fmt: skip
    tags = dict(re.findall(r"\benum\s+(\w+)\s*\{([^{}]*)\}\s*;", text))
    for tag, name in re.findall(r"typedef\s+enum\s+(\w+)\s+(\w+)\s*;", text):
        if tag in tags:
            found[name] = tags[tag]
    return found


def types_text(library, text, used):
    """Definitions of the types that functions have; structures are names alone."""
    handles = {name: tag for tag, name in re.findall(
        r"typedef\s+struct\s+(\w+)\s*\*\s*(\w+)\s*;", text)}  # fmt: skip
    arrays = {name: (kind, count) for kind, name, count in re.findall(
        r"typedef\s+([\w ]+?)\s+(\w+)\[(\d+)\]\s*;", text)}  # fmt: skip
    aliases = {name: " ".join(kind.split()) for kind, name in re.findall(
        r"typedef\s+((?!struct|enum|union)\w[\w ]*?)\s+(\w+)\s*;", text)}  # fmt: skip
    lines, done = [], set()

    def define(name):
        if name in done or not name.startswith(library.prefix):
            return
        done.add(name)
        if name in known:
            values = (" ".join(each.split()) for each in known[name].split(","))
            body = "".join(f"  {each},\n" for each in values if each)
            lines.append(f"enum {name} : int32_t {{\n{body}}};\n")
        elif name in handles:
            lines.append(f"typedef struct {handles[name]}* {name};\n")
        elif name in arrays:
            lines.append(f"typedef {arrays[name][0]} {name}[{arrays[name][1]}];\n")
        elif name in aliases:
            define(aliases[name])
            lines.append(f"typedef {aliases[name]} {name};\n")
        else:
            lines.append(f"struct {name};\n")

    known = enums(text)
    for name in used:
        define(name)
    return lines


def banner(library):
    version = read(library.name)[0]
    return f"// Generated by `make gen` from {library.header}{' ' if version else ''}{version}.\n"


def api_text(library):
    _, text, functions = read(library.name)
    words = " ".join(f"{result} {' '.join(d for d, _ in parameters)}"
                     for result, parameters in functions.values())  # fmt: skip
    used = sorted(set(re.findall(rf"\b{library.prefix}\w+", words)))
    lines = [banner(library), "// clang-format off\n", "#pragma once\n\n",
             "#include <cstddef>\n#include <cstdint>\n\n", *library.includes, 'extern "C" {\n',
             *numbers(library), *types_text(library, text, used)]  # fmt: skip
    lines += [f"{result} {symbol}({', '.join(d for d, _ in parameters)});\n"
              for symbol, (result, parameters) in functions.items()]  # fmt: skip
    return "".join([*lines, "}\n"])


def functions_text(library):
    name = library.name.upper()
    found = dict(read(library.name)[2])
    status = collections.Counter(result for result, _ in found.values()).most_common(1)[0][0]
    found.update({symbol: (status, []) for symbol in library.undeclared})
    lines = [banner(library), f"// KM_{name}_FUNCTION(symbol, status, parameters, arguments); "
             "KM_*_TEXT_FUNCTION: those that give something else\n"]  # fmt: skip
    for symbol, (result, parameters) in sorted(found.items()):
        declared = ", ".join(each for each, _ in parameters)
        passed = ", ".join(name for _, name in parameters)
        macro = f"KM_{name}_FUNCTION" if result == status else f"KM_{name}_TEXT_FUNCTION"
        lines.append(f"{macro}({symbol}, {result}, ({declared}), ({passed}))\n")
    return "".join(lines)


def kept(make, library, path):
    """The table; without a header the committed one."""
    return make(library) if find_header(library) else (ROOT / path).read_text()


def outputs():
    found = {}
    for library in LIBRARIES:
        for name, make in (("api.h", api_text), ("functions.def", functions_text)):
            path = f"dropin/{library.name}/generated/{name}"
            found[path] = lambda tool, m=make, each=library, p=path: kept(m, each, p)
    return found
