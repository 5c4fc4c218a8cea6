"""Rules on C and C++: size of functions, nesting, layers, calls that are banned somewhere."""

import re

from layers import COMMON_HEADERS, DROPIN, DROPIN_EXPORTS, INSIDE, LAYERS, MAX_CLASS, MAX_FILES
from layers import ROOMS, layer_of, may_include, readme_lines
from tree import File, Finding

MAX_FUNCTION_LINES = 70
MAX_NESTING = 4

# LLVM stays in the folders of simt that make code.
LLVM_FREE = re.compile(r"^src/(?!simt/(?!analysis/|transform/|plan/))")
# Headers that need no library of LLVM's.
LLVM_HEADERS_ALONE = {"llvm/Demangle/ItaniumDemangle.h"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)', re.M)


def includes(file: File):
    for match in INCLUDE.finditer(file.text):
        yield file.text.count("\n", 0, match.start()) + 1, match[1], match[2]


def home_of(file: File):
    """The layer of a file; "": it lies in none and need not."""
    if file.path.startswith("src/"):
        return layer_of(file.path[len("src/") :])
    return layer_of(file.path) or ""


def layering(file: File) -> list:
    home = home_of(file)
    if home == "":
        return []
    if home is None:
        return [Finding("layering", file.path, 1, "lies in no layer that tests/tidy knows")]
    found = []
    for line, own, system in includes(file):
        if own and not COMMON_HEADERS.match(own) and not (home == "gen" and "/" not in own):
            target = layer_of(own)
            if target is None:
                text = f'"{own}" names no layer: includes are written from src/ or the root'
            elif target != home and target not in LAYERS[home].may_include:
                text = f"{home} may not include {target} ({own})"
            else:
                continue
            found.append(Finding("layering", file.path, line, text))
        is_llvm = (own or system).startswith(("llvm/", "llvm-c/"))
        if is_llvm and system not in LLVM_HEADERS_ALONE and LLVM_FREE.match(file.path):
            found.append(Finding("layering", file.path, line, "LLVM belongs to simt's emitters"))
    return found


def dropin_exports(file: File) -> list:
    if not file.path.startswith(DROPIN) or file.path.startswith(DROPIN_EXPORTS):
        return []
    text = f"%s: exported functions lie in {DROPIN_EXPORTS}"
    return file.find("layering", r"^CUresult\s+cu[A-Z]\w*(?=\()", text, re.M)


def crowds(files: list) -> list:
    """Folders that hold more than one can take in at a look."""
    counts = {}
    for file in files:
        folder = file.path.rpartition("/")[0]
        is_ours = f"{folder}/".startswith(("src/", "dropin/", "gen/", "tests/"))
        is_source = file.is_code or file.path.endswith(".py")
        if is_ours and is_source and not file.is_generated:
            counts.setdefault(folder, []).append(file.path)
    return [
        Finding("crowd", paths[-1], 1, f"{folder} has {len(paths)} files; at most {MAX_FILES}")
        for folder, paths in counts.items()
        if len(paths) > MAX_FILES
    ]


def rooms_of(path: str) -> dict:
    """The folder that a path lies in, by each room of ROOMS around it; "" right below the room."""
    found = {}
    for room in ROOMS:
        if path.startswith(f"{room}/"):
            folder, slash, _ = path[len(room) + 1 :].partition("/")
            found[room] = folder if slash else ""
    return found


def floors(file: File) -> list:
    """Each folder of a room includes those folders of it that the room's table names."""
    found = []
    for room, folder in rooms_of(file.path).items():
        allowed = may_include(room, folder)
        if allowed is None:
            text = f"{room} has no floor '{folder}': tests/tidy/layers.py names the floors"
            found.append(Finding("layering", file.path, 1, text))
            continue
        for line, own, _ in includes(file):
            target = (rooms_of(f"src/{own}") or rooms_of(own or "")).get(room)
            if target is not None and target not in allowed:
                home = f"{room}/{folder}".rstrip("/")
                text = f"{home} may not include {own}: tests/tidy/layers.py has the floors"
                found.append(Finding("layering", file.path, line, text))
    return found


CLASS = re.compile(
    r"^[ \t]*(?:class|struct) (?:alignas\(\w+\) )?(\w+)(?: final)?(?:\s*:[^;{}()]*)?\s*\{", re.M
)
MEMBER = re.compile(r"\b[a-z]\w*_(?=\s*(?:[=,{]|\[\w*\]|$))")


def class_body(code: str, start: int) -> str:
    """What stands in a class itself: inner braces are a semicolon."""
    depth, body = 1, ""
    for char in code[start:]:
        depth += {"{": 1, "}": -1}.get(char, 0)
        if depth == 0:
            break
        if depth == 1:
            body += ";" if char == "}" else char
    return body


def size_of_class(body: str) -> tuple:
    """The numbers of functions and of members."""
    functions = members = 0
    for statement in body.split(";"):
        declared = statement.split("=")[0]
        if re.search(r"\b(using|friend|struct|class|enum)\b", statement):
            continue
        if re.search(r"\w\s*\(", declared):
            functions += 1
        else:
            members += len(MEMBER.findall(statement))
    return functions, members


def classes(file: File) -> list:
    """Classes stay small, those inside others and inside functions too."""
    if not file.path.startswith(("src/", "dropin/", "gen/", "tests/")):
        return []
    found = []
    code = file.source.code
    for match in CLASS.finditer(code):
        size = size_of_class(class_body(code, match.end()))
        line = code.count("\n", 0, match.start()) + 1
        if size[0] > MAX_CLASS[0] or size[1] > MAX_CLASS[1]:
            text = f"{match[1]}: {size[0]} functions, {size[1]} members; at most {MAX_CLASS}"
            found.append(Finding("class", file.path, line, text))
    return found


def order_in_readme(files: list) -> list:
    """src/README.md has the list of layers, and no other order of them."""
    readme = next((file for file in files if file.path == "src/README.md"), None)
    if readme is None:
        return []
    listed = [line for line in readme.lines if line.startswith("    ")]
    if listed == readme_lines():
        return []
    wrong = next((i for i, pair in enumerate(zip(listed, readme_lines())) if pair[0] != pair[1]),
                 min(len(listed), len(INSIDE)))
    want = readme_lines()[wrong] if wrong < len(INSIDE) else "no further line"
    line = readme.lines.index(listed[wrong]) + 1 if wrong < len(listed) else len(readme.lines)
    return [Finding("readme", readme.path, line, f"tests/tidy/layers.py has here: {want.strip()}")]


def public_only(file: File) -> list:
    """Tests in C, and examples, see what a user sees."""
    if not file.path.startswith(("tests/c/", "examples/")):
        return []
    found = []
    for line, own, system in includes(file):
        inner = (own or system).split("/")[0] in {name.split("/")[0] for name in LAYERS}
        if inner or (own or "").startswith("kernelmill/"):
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
    ("getenv", r"^(src|dropin)/", r"^src/(base/env|tools/)",
     CALL % "secure_getenv|getenv|setenv|putenv|unsetenv",
     "'%s': the environment is read in base/env only"),
    ("dlopen", r"^(src|dropin)/", r"^(src/base/process/dylib|dropin/cudart/frame/driver\.cpp)",
     CALL % "dlopen|dlmopen|dlsym|dlvsym",
     "'%s': base/process/dylib opens shared libraries, cudart/frame/driver.cpp the driver"),
    ("dlclose", r"^(src|dropin)/", None, CALL % "dlclose",
     "'%s': threads may still run in it; nothing is ever closed"),
    ("file", r"^(src|dropin)/", r"^src/base/",
     CALL % "f(?:re|d)?open(?:64)?|creat|open(?:64|at|at2)|mk(?:o)?s?temps?|mkdtemp|tmpfile|"
     "renameat2?|linkat|memfd_create|ftruncate|truncate" +
     r"|\bstd::(?:basic_)?[io]?fstream\b|(?<![\w>])::(?:open|rename|link)\s*\("
     r"|(?<![\w.>:])open\s*\([^;{]*\bO_[A-Z]+|(?<![\w.>:])rename\s*\([^;{]*\bc_str\s*\("
     r"|\b(?:std|fs|filesystem)::(?:rename|copy_file|resize_file)\s*\(",
     "'%s': files are opened and written by base/file/file.h and base/file/file_writer.h only"),
    ("new", r"^(src|dropin)/.*\.(cpp|h|hpp)$", None,
     r"(?<!\()\bnew\b(?!\s*\()(?=\s*[\w:])|(?<!= )(?<!operator )\bdelete\b(?!\s*(?:[(;]|this\b))",
     "'%s': memory belongs, from its birth, to a smart pointer or a container"),
    ("stdout", r"^(src|dropin)/", r"^(src/tools|dropin/commands|dropin/nvidia_smi)/",
     CALL % "printf|puts|putchar|vprintf" + r"|\bstd::cout\b|\bf(?:printf|write|puts|flush)\s*\("
     r"[^;]*?\bstdout\b",
     "'%s': a library prints nothing to the standard output"),
    ("exit", r"^(src|dropin)/", r"^src/tools/", CALL % "exit|_exit|quick_exit|abort|std::terminate",
     "'%s': a library never ends its host"),
    ("throw", r"^(src|dropin)/", r"^src/tools/", r"\bthrow\b(?!\s*(?:;|\(\s*\)|std::bad_alloc\b))",
     "'%s': failures travel as Result<T>; out of memory alone is thrown"),
    ("unsafe", r"", None, CALL % "strcpy|strcat|sprintf|vsprintf|gets|system|tmpnam|alloca",
     "'%s': has no bound or runs a shell"),
    ("using", r"\.(h|hpp)$", r"^dropin/cuda/frame/call\.h$", r"\busing\s+namespace\b",
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
        for rule in (
            functions, classes, layering, dropin_exports, floors, public_only, banned, guards,
        ):
            found += rule(file)
    return found + order_in_readme(files) + crowds(files)
