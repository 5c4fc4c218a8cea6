"""Rules on documentation: links lead somewhere, and what pages and comments name is there."""

import json
import re
from pathlib import Path, PurePosixPath

from tree import SCRIPTS, TABLES, Finding

LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)|^\[[^\]\n]+\]:\s+(\S+)$", re.M)
IMAGE = re.compile(r"!\[[^\]\n]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)[ \t]*$", re.M | re.S)
CODE = re.compile(r"`[^`\n]*`")
MANUAL = "docs/internals/"
PAGE = re.compile(r"(?<![\w/.-])docs/(?:[\w.-]+/)*[\w.-]+\.md\b")
# A path from the root in the manual, or its beginning, which `*` or `<` ends.
ROOTED = re.compile(
    r"(?<![\w/.<$}-])((?:src|dropin|gen|tests|bench|include|docs|scripts|cmake)/(?:[\w.-]+/)*"
    r"[\w-]*(?:\.[\w-]+)*)([*<]?)"
)
# The end of a file's path in a comment.
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
COMMENTED = re.compile(r"(?<![\w/.<$}*-])((?:[\w-]+/)+[\w-]+\.(?:cpp|h|def|inc|S|py))\b")
SOURCES = re.compile(r"^(src|dropin|gen|include|tests)/")
# A name of code in the manual: `call()`, `Class::member`, `snake_case`, `CamelCase`, `KM_MACRO`.
CODE_NAME = re.compile(r"`([A-Za-z_]\w*(?:::~?\w+)*)(\(\))?`")
LOOKS_LIKE_CODE = re.compile(r"\w+::|\w*[a-zA-Z0-9]_\w|[A-Za-z]*[a-z][A-Z]|[A-Z]+[a-z]")
# `name()` (`file.cpp`, `other.h`): where it is.
PLACED = re.compile(
    r"`(?:\w+::)*(\w+)(?:\(\))?`\s+\(((?:`[\w./-]+\.(?:cpp|h|def|inc|S)`(?:,\s+)?)+)\)"
)
WORD = re.compile(r"[A-Za-z_]\w*")
SPEAKS = TABLES | SCRIPTS | {".txt", ".in"}  # of identifiers, besides code
NAMED = re.compile(r"`((?:[\w.-]+/)*[\w-]+\.(?:cpp|h|def|inc|S|py|md|ptx))`")

# A preset that a page has its readers configure with, and the folder that they then build in.
PRESET = re.compile(r"cmake --preset ([\w-]+)([^\n`]*)")
BUILT_IN = re.compile(r"ninja -C (\S+)")


def without(pattern, text: str) -> str:
    """The text with matches made blank, so that lines keep their numbers."""
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def anchor_of(heading: str) -> str:
    """As GitHub makes it: small letters, no punctuation, hyphens for blanks."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")


def anchors(file) -> set:
    found, counts = set(), {}
    for heading in re.findall(r"^#{1,6}\s+(.*?)\s*#*$", without(FENCE, file.text), re.M):
        anchor = anchor_of(heading)
        number = counts.get(anchor, 0)
        counts[anchor] = number + 1
        found.add(f"{anchor}-{number}" if number else anchor)
    return found | set(re.findall(r'<a (?:id|name)="([^"]+)"', file.text))


def resolve(path: str, target: str) -> str:
    parts = []
    for part in PurePosixPath(path).parent.joinpath(target).parts:
        if part == "..":
            if not parts:
                return ""
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def links(file, by_path: dict, folders: set) -> list:
    text = without(CODE, without(FENCE, file.text))
    found = []
    for match in [*LINK.finditer(text), *IMAGE.finditer(text)]:
        target = next(group for group in match.groups() if group)
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            continue
        line = text.count("\n", 0, match.start()) + 1
        name, _, anchor = target.partition("#")
        path = resolve(file.path, name) if name else file.path
        if path not in by_path and path not in folders:
            found.append(Finding("link", file.path, line, f"{target} leads nowhere"))
        elif anchor and path.endswith(".md") and anchor not in anchors(by_path[path]):
            found.append(Finding("link", file.path, line, f"{path} has no heading '#{anchor}'"))
    return found


def named_files(file, endings: set) -> list:
    """The manual names files by the end of their path, which must be one file's."""
    if not file.path.startswith(MANUAL):
        return []
    text = without(FENCE, file.text)
    return [
        Finding("named", file.path, text.count("\n", 0, match.start()) + 1,
                f"there is no file {match[1]}")
        for match in NAMED.finditer(text)
        if match[1] not in endings
    ]


def words_of_code(files: list) -> list:
    """For each file that can have identifiers, all words in it."""
    return [
        set(WORD.findall(file.text))
        for file in files
        if (file.is_code or file.suffix in SPEAKS) and not file.is_binary and not file.is_data
    ]


def code_names(file, words: list, known: set) -> list:
    """The manual's names of functions, types, members and macros are words of some source; of
    `Class::member` one source has both."""
    if not file.path.startswith(MANUAL):
        return []

    def is_there(name: str) -> bool:
        parts = set(re.split(r"::~?", name))
        return parts <= known and (len(parts) == 1 or any(parts <= found for found in words))

    text = without(FENCE, file.text)
    return [
        Finding("named", file.path, text.count("\n", 0, match.start()) + 1,
                f"no source has {match[1]}")
        for match in CODE_NAME.finditer(text)
        if (match[2] or LOOKS_LIKE_CODE.match(match[1])) and not is_there(match[1])
    ]


def placed_names(file, files: list) -> list:
    """A name that the manual places in a file is a word of it, or of its header or source."""
    if not file.path.startswith(MANUAL):
        return []

    def is_there(name: str, places: str) -> bool:
        stems = [place.rpartition(".")[0] for place in re.findall(r"`([^`]+)`", places)]
        homes = [other for other in files for stem in stems
                 if f"/{stem}." in f"/{other.path}"]
        return any(re.search(rf"(?<!\w){name}(?!\w)", home.text) for home in homes)

    text = without(FENCE, file.text)
    return [
        Finding("named", file.path, text.count("\n", 0, match.start()) + 1,
                f"{match[1]} is not in {match[2]}")
        for match in PLACED.finditer(text)
        if not is_there(match[1], match[2])
    ]


def rooted_paths(file, paths: set) -> list:
    """Files and folders that the manual names from the root, also in its examples."""
    if not file.path.startswith(MANUAL):
        return []

    def is_there(match) -> bool:
        if match[2]:
            return any(path.startswith(match[1]) for path in paths)
        return match[1].rstrip("/") in paths

    return [
        Finding("named", file.path, file.text.count("\n", 0, match.start()) + 1,
                f"there is nothing at {match[0]}")
        for match in ROOTED.finditer(file.text)
        if not is_there(match)
    ]


def commented_files(file, endings: set, folders: set) -> list:
    """Files that comments name by the end of their path; those of other projects do not count."""
    if not file.is_code or file.is_generated or not SOURCES.match(file.path):
        return []
    ours = {name for folder in folders for name in folder.split("/")[:2]}
    found = []
    for comment in COMMENT.finditer(file.text):
        for match in COMMENTED.finditer(comment[0]):
            if match[1].partition("/")[0] in ours and match[1] not in endings:
                line = file.text.count("\n", 0, comment.start() + match.start()) + 1
                found.append(Finding("named", file.path, line, f"there is no file {match[1]}"))
    return found


def folders_of_presets(by_path: dict) -> dict:
    """The build folder of each preset by its name, from the sources' root."""
    presets = {}
    if "CMakePresets.json" in by_path:
        listed = json.loads(by_path["CMakePresets.json"].text)["configurePresets"]
        presets = {preset["name"]: preset for preset in listed}

    def folder(name: str) -> str:
        preset = presets[name]
        return preset.get("binaryDir") or folder(preset["inherits"])

    return {name: folder(name).replace("${sourceDir}/", "").replace("${presetName}", name)
            for name, preset in presets.items() if not preset.get("hidden")}


def named_presets(file, folders: dict) -> list:
    """Commands of pages that configure: the preset is there, and the build is in its folder."""
    found = []
    for match in PRESET.finditer(file.text):
        built = BUILT_IN.search(match[2])
        if match[1] not in folders:
            said = f"there is no preset {match[1]}"
        elif built and built[1] != folders[match[1]]:
            said = f"the preset {match[1]} is built in {folders[match[1]]}, not in {built[1]}"
        else:
            continue
        line = file.text.count("\n", 0, match.start()) + 1
        found.append(Finding("named", file.path, line, said))
    return found


def named_pages(file, by_path: dict) -> list:
    """Pages of docs/ that sources, scripts and headers speak of."""
    if file.is_binary or file.path == "tests/tidy/test_tidy.py":
        return []
    return [
        Finding("named", file.path, file.text.count("\n", 0, match.start()) + 1,
                f"there is no page {match[0]}")
        for match in PAGE.finditer(file.text)
        if match[0] not in by_path
    ]


def run(files: list) -> list:
    by_path = {file.path: file for file in files}
    folders, endings = set(), set()
    for path in by_path:
        folders.update(parent.as_posix() for parent in Path(path).parents)
        parts = path.split("/")
        endings.update("/".join(parts[i:]) for i in range(len(parts)))
    found = []
    words = words_of_code(files) if any(path.startswith(MANUAL) for path in by_path) else []
    known = set().union(*words)
    presets = folders_of_presets(by_path)
    for file in files:
        if file.suffix == ".md":
            found += links(file, by_path, folders) + named_files(file, endings)
            found += rooted_paths(file, set(by_path) | folders)
            found += code_names(file, words, known) + placed_names(file, files)
            found += named_presets(file, presets)
        else:
            found += named_pages(file, by_path) + commented_files(file, endings, folders)
    return found
