"""Rules on C and C++: size of functions, nesting, layers, calls that are banned somewhere."""

import re

from tree import File, Finding

MAX_FUNCTION_LINES = 70
MAX_NESTING = 4

# What each layer of src/ may include besides itself (DESIGN "Layers"); all may include c_api.h and
# km_version.h.
LAYERS = {
    "base": set(),
    "ptx": {"base"},
    "simt": {"base", "ptx"},
    "compile": {"base"},
    "cuda": set(),
    "backends/null": {"base", "backend"},
    "backends/cpu": {"base", "backend", "ptx", "simt"},
    "backends/cuda": {"base", "backend", "cuda", "ptx"},
    "backend": {"base", "backends/null"},
    "core": {"base", "backend", "backends/cuda", "backends/null", "compile"},
    "api": {"base", "backend", "compile", "core"},
    "tools": {"base"},
}
COMMON_HEADERS = {"c_api.h", "kernelmill.hpp", "km_version.h"}
# LLVM stays in the folders of simt that make code.
LLVM_FREE = re.compile(r"^src/(?!simt/(?!analysis/|transform/))")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)', re.M)


def layer_of(path: str):
    """`ptx/lexer.h` -> ptx, `backends/cpu/pool.h` -> backends/cpu; None outside the layers."""
    parts = path.split("/")
    name = "/".join(parts[:2]) if parts[0] == "backends" else parts[0]
    return name if len(parts) > 1 and name in LAYERS else None


def includes(file: File):
    for match in INCLUDE.finditer(file.text):
        yield file.text.count("\n", 0, match.start()) + 1, match[1], match[2]


def layering(file: File) -> list:
    if not file.path.startswith("src/"):
        return []
    layer = layer_of(file.path[len("src/") :])
    if layer is None:
        return [Finding("layering", file.path, 1, "lies in no layer that tests/tidy knows")]
    found = []
    for line, own, system in includes(file):
        if own and own not in COMMON_HEADERS:
            target = layer_of(own)
            if target is None:
                text = f'"{own}" is not written from src/'
            elif target != layer and target not in LAYERS[layer]:
                text = f"{layer} may not include {target} ({own})"
            else:
                continue
            found.append(Finding("layering", file.path, line, text))
        if (own or system).startswith(("llvm/", "llvm-c/")) and LLVM_FREE.match(file.path):
            found.append(Finding("layering", file.path, line, "LLVM belongs to simt's emitters"))
    return found


def public_only(file: File) -> list:
    """Tests in C, and examples, see what a user sees."""
    if not file.path.startswith(("tests/c/", "examples/")):
        return []
    found = []
    for line, own, system in includes(file):
        inner = (own or system).split("/")[0] in {name.split("/")[0] for name in LAYERS}
        if inner or own == "c_api.h":
            text = f"{own or system}: include <kernelmill/c_api.h> only"
            found.append(Finding("public", file.path, line, text))
    return found


def functions(file: File) -> list:
    found = []
    for function in file.source.functions():
        where = (file.path, function.first_line)
        if function.lines > MAX_FUNCTION_LINES:
            text = f"{function.name}: {function.lines} lines; at most {MAX_FUNCTION_LINES}"
            found.append(Finding("function", *where, text))
        if function.nesting > MAX_NESTING:
            text = f"{function.name}: nested {function.nesting} deep; at most {MAX_NESTING}"
            found.append(Finding("nesting", file.path, function.nesting_line, text))
    return found


# rule, where it holds, where it does not, what is looked for, what is said
CALL = r"(?<![\w.>:])(?:std::|::)?(?:%s)\s*\("
BANNED = [
    ("getenv", r"^src/", r"^src/(base/env|tools/)",
     CALL % "secure_getenv|getenv|setenv|putenv|unsetenv",
     "'%s': the environment is read in base/env only"),
    ("dlopen", r"^src/", r"^src/base/dylib", CALL % "dlopen|dlmopen|dlsym|dlvsym",
     "'%s': shared libraries are opened in base/dylib only"),
    ("dlclose", r"^src/", None, CALL % "dlclose",
     "'%s': threads may still run in it; nothing is ever closed"),
    ("file", r"^(src|dropin)/", r"^src/base/",
     CALL % "f(?:re|d)?open(?:64)?|creat|open(?:64|at|at2)|mk(?:o)?s?temps?|mkdtemp|tmpfile|"
     "renameat2?|linkat|memfd_create|ftruncate|truncate" +
     r"|\bstd::(?:basic_)?[io]?fstream\b|(?<![\w>])::(?:open|rename|link)\s*\("
     r"|(?<![\w.>:])open\s*\([^;{]*\bO_[A-Z]+|(?<![\w.>:])rename\s*\([^;{]*\bc_str\s*\("
     r"|\b(?:std|fs|filesystem)::(?:rename|copy_file|resize_file)\s*\(",
     "'%s': files are opened and written by base/file.h and base/file_writer.h only"),
    ("new", r"^src/.*\.(cpp|h|hpp)$", None,
     r"(?<!\()\bnew\b(?!\s*\()(?=\s*[\w:])|(?<!= )(?<!operator )\bdelete\b(?!\s*(?:[(;]|this\b))",
     "'%s': memory belongs, from its birth, to a smart pointer or a container"),
    ("stdout", r"^src/", r"^src/tools/",
     CALL % "printf|puts|putchar|vprintf" + r"|\bstd::cout\b|\bf(?:printf|write|puts|flush)\s*\("
     r"[^;]*?\bstdout\b",
     "'%s': a library prints nothing to the standard output"),
    ("exit", r"^src/", r"^src/tools/", CALL % "exit|_exit|quick_exit|abort|std::terminate",
     "'%s': a library never ends its host"),
    ("throw", r"^src/", r"^src/tools/", r"\bthrow\b(?!\s*(?:;|\(\s*\)|std::bad_alloc\b))",
     "'%s': failures travel as Result<T>; out of memory alone is thrown"),
    ("unsafe", r"", None, CALL % "strcpy|strcat|sprintf|vsprintf|gets|system|tmpnam|alloca",
     "'%s': has no bound or runs a shell"),
    ("using", r"\.(h|hpp)$", r"^dropin/cuda/call\.h$", r"\busing\s+namespace\b",
     "'%s' in a header"),
    ("skip", r"^tests/", None, r"\bDISABLED_\w+", "'%s': a test runs or goes"),
]
# A static that is never destroyed, because threads may still use it while the process exits.
LEAKED = re.compile(r"\bstatic\b.*= \*?new\b")


def banned(file: File) -> list:
    found = []
    for rule, where, except_in, pattern, text in BANNED:
        if not re.search(where, file.path) or (except_in and re.search(except_in, file.path)):
            continue
        found += file.find(rule, pattern, text)
    return [f for f in found if f.rule != "new" or not LEAKED.search(file.lines[f.line - 1])]


def guards(file: File) -> list:
    if file.suffix not in (".h", ".hpp") or "#pragma once" in file.text:
        return []
    if re.search(r"#ifndef (\w+_H(?:PP)?)\n#define \1\n", file.text):
        return []
    return [Finding("guard", file.path, 1, "neither '#pragma once' nor an include guard")]


def run(files: list) -> list:
    found = []
    for file in files:
        if not file.is_code or file.is_generated:
            continue
        for rule in (functions, layering, public_only, banned, guards):
            found += rule(file)
    return found
