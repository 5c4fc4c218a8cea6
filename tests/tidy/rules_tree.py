"""Rules on the tree: files that nothing builds, includes or names; scripts; dangerous flags."""

import ast
import json
import re
from pathlib import Path

from layers import ARCHITECTURES
from rules_code import MAX_FUNCTION_LINES, includes
from tree import SCRIPTS, TABLES, Finding

# Found by a rule of their place, not by name: by git, by CMake's globs, by cargo, by readers.
BY_PLACE = re.compile(
    r"""^(
        [^/]+ | .*/CMakeLists\.txt | .*/README\.md | \.ci/.* | \.github/.* | docs/.* | man/.*
      | completions/.*
      | src/.*\.(cpp|c|S) | tests/(unit|c|fault)/.*\.(cpp|c)
      | bindings/rust/.*/tests/.*\.rs | .*/generated/.*
    )$""",
    re.X,
)
VERSIONED = "include/kernelmill/base.h"  # has the version
MANIFESTS = {
    "bindings/rust/Cargo.toml": r'^version = "([^"]+)"$',
    "bindings/zig/build.zig.zon": r'^ *\.version = "([^"]+)",$',
}
# The oldest compiler of Rust, by the name of the file.
RUST_VERSIONS = {
    "Cargo.toml": r'^rust-version = "([^"]+)"$',
    "README.md": r"\bRust (\d+\.\d+)\b",
    "CMakeLists.txt": r'"Rust (\d+\.\d+) or newer"',
}
# Sources that tests build.
BUILT_ELSEWHERE = re.compile(r"^tests/(install/consumer|wrap/programs|cpp/mdspan)/")


def dead_headers(files: list) -> list:
    """Headers and tables that no source includes, by itself or by tables that it includes."""
    by_table, included = {}, set()
    for file in files:
        if file.is_code or file.suffix in TABLES:
            names = {Path(own or system).name for _, own, system in includes(file)} - {file.name}
            if file.is_code:
                included |= names
            else:
                by_table.setdefault(file.name, set()).update(names)
    added = set(included)
    while added := {name for table in added for name in by_table.get(table, ())} - included:
        included |= added
    return [
        Finding("dead", file.path, 1, "nothing includes this file")
        for file in files
        if file.suffix in (".h", ".hpp", ".def", ".inc")
        and not file.path.startswith("include/")
        and file.name not in included
    ]


def compiled_sources(commands: Path) -> set:
    """The sources of a list of commands, those included in the batches of a unity build, too."""
    built = set()
    for entry in json.loads(commands.read_text()):
        source = Path(entry["directory"], entry["file"]).resolve()
        built.add(source)
        if source.parent.name == "Unity":
            batch = re.findall(r'^#include "(.+)"$', source.read_text(), re.MULTILINE)
            built.update(Path(path).resolve() for path in batch)
    return built


def foreign_folders(built: set) -> set:
    """The names of folders of architectures that this build is not for."""
    folders = {source.parent for source in built}
    here = {name for name in ARCHITECTURES for at in folders if at.match(f"src/base/arch/{name}")}
    return set(ARCHITECTURES) - here if here else set()


def dead_sources(files: list, root: Path, commands: Path) -> list:
    """Sources that are part of no target, by the build's own list of commands."""
    built = compiled_sources(commands)
    foreign = foreign_folders(built)
    folders = ("src/", "dropin/", "gen/", "tests/", "examples/", "bench/")
    return [
        Finding("dead", file.path, 1, "no target builds this file")
        for file in files
        if file.suffix in (".c", ".cpp", ".S")
        and file.path.startswith(folders)
        and not BUILT_ELSEWHERE.match(file.path)
        and not foreign.intersection(Path(file.path).parts)
        and (root / file.path).resolve() not in built
    ]


def dead_others(files: list) -> list:
    """Scripts, kernels and data that no other file names (by name, stem or folder)."""
    texts = {f.path: f.text for f in files if not (f.is_binary or f.is_data or f.name == "LICENSE")}

    def is_named(file) -> bool:
        folder = Path(file.path).parent
        words = {file.name, Path(file.name).stem, f"{folder.parent.name}/{folder.name}"} - {""}
        patterns = [(word, re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")) for word in words]
        return any(
            word in text and pattern.search(text)
            for path, text in texts.items()
            if path != file.path
            for word, pattern in patterns
        )

    return [
        Finding("dead", file.path, 1, "no other file names this one")
        for file in files
        if not file.is_code
        and file.suffix not in TABLES - {".map"}
        and not BY_PLACE.match(file.path)
        and not is_named(file)
    ]


def scripts(files: list) -> list:
    found = []
    for file in files:
        first = file.lines[0] if not file.is_binary else ""
        if first.startswith("#!") and "bash" in first:
            if "set -euo pipefail" not in file.text:
                found.append(Finding("script", file.path, 1, "lacks 'set -euo pipefail'"))
        is_executable = (file.root / file.path).stat().st_mode & 0o111 != 0
        if is_executable != first.startswith("#!"):
            text = "executable, but no '#!'" if is_executable else "'#!', but not executable"
            found.append(Finding("script", file.path, 1, text))
    return found


def python_functions(files: list) -> list:
    found = []
    for file in files:
        if file.suffix != ".py":
            continue
        for node in ast.walk(ast.parse(file.text, file.path)):
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            lines = node.end_lineno - node.lineno + 1
            if lines > MAX_FUNCTION_LINES:
                text = f"{node.name}: {lines} lines; at most {MAX_FUNCTION_LINES}"
                found.append(Finding("function", file.path, node.lineno, text))
    return found


def flags(files: list) -> list:
    """Fast-math changes results, and sets flush-to-zero in every program that loads the library."""
    names = re.compile(r"-ff" + r"ast-math|-Of" + r"ast\b|-funsafe-" + r"math-optimizations")
    return [
        Finding("flags", file.path, number, f"{match[0]} is banned")
        for file in files
        if file.suffix in SCRIPTS or file.name in ("CMakeLists.txt", "Makefile")
        for number, line in enumerate(file.lines, 1)
        if (match := names.search(line))
    ]


def versions(files: list) -> list:
    """The manifests of the bindings have the version of the public header."""
    by_path = {file.path: file for file in files}
    header = by_path.get(VERSIONED)
    parts = re.findall(r"#define KM_VERSION_[A-Z]+ (\d+)$", header.text, re.M) if header else []
    if not parts:
        return []
    found = []
    for path, pattern in MANIFESTS.items():
        match = re.search(pattern, by_path[path].text, re.M) if path in by_path else None
        if match and match[1] != ".".join(parts):
            line = by_path[path].text.count("\n", 0, match.start(1)) + 1
            text = f"version {match[1]}; {VERSIONED} has {'.'.join(parts)}"
            found.append(Finding("version", path, line, text))
    return found


def oldest_rust(files: list) -> list:
    """Manifests and the README name the compiler that scripts/versions.txt asks for."""
    by_path = {file.path: file for file in files}
    asked = by_path.get("scripts/versions.txt")
    match = re.search(r"^tool +rust +(\d+\.\d+)", asked.text, re.M) if asked else None
    if not match:
        return []
    found = []
    for file in files:
        pattern = RUST_VERSIONS.get(file.name)
        for named in re.finditer(pattern, file.text, re.M) if pattern else ():
            if named[1] != match[1]:
                line = file.text.count("\n", 0, named.start(1)) + 1
                text = f"Rust {named[1]}; scripts/versions.txt has {match[1]}"
                found.append(Finding("rust", file.path, line, text))
    return found


def run(files: list, root: Path, commands) -> list:
    found = dead_headers(files) + dead_others(files)
    if commands:
        found += dead_sources(files, root, commands)
    found += scripts(files) + python_functions(files)
    return found + flags(files) + versions(files) + oldest_rust(files)
