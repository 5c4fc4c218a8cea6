"""The pages of the documentation's site, put together from the repository's Markdown: links between
pages stay, and links to other files of the repository lead to a page that shows the file."""

import os
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# A link or picture of Markdown, or code, in which there are none; and the fences.
LINK = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)|"
                  r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()([^()\s]+)(\))", re.S)
CODE = re.compile(r"^(```|~~~).*?^\1", re.M | re.S)
LANGUAGES = {".h": "c", ".c": "c", ".cpp": "cpp", ".hpp": "cpp", ".cu": "cuda", ".py": "python",
             ".rs": "rust", ".go": "go", ".zig": "zig", ".sh": "bash", ".toml": "toml"}
PICTURES = (".png", ".jpg", ".svg", ".webp")
MOST_SHOWN_BYTES = 200_000


# How much a page counts in searches: how to do things and what holds come before how it is made
# and what was found. Folder of the site -> factor; other pages count 1.
BOOSTS = {"guide": 4, "reference": 3, "index.md": 3, "bindings.md": 2, "internals": 0.5,
          "reports": 0.5, "repository": 0.3}


class BrokenLink(Exception):
    pass


def front_matter(target: str) -> str:
    """What mkdocs is told of a page of the site: its weight in searches."""
    boost = BOOSTS.get(target.split("/", maxsplit=1)[0])
    return f"---\nsearch:\n  boost: {boost}\n---\n" if boost else ""


def site_path(source: str) -> str:
    """Where the page of a file or folder of the repository lies in the site."""
    if source == "docs/README.md":
        return "index.md"
    if source.startswith("docs/") and source.endswith(".md"):
        return re.sub(r"(^|/)README\.md$", r"\1index.md", source.removeprefix("docs/"))
    if source.startswith("docs/") and source.endswith(PICTURES):
        return source.removeprefix("docs/")
    if source.endswith(".md"):
        return "repository/" + re.sub(r"(^|/)README\.md$", r"\1README.md", source)
    if source.endswith(PICTURES):
        return "repository/" + source
    if (ROOT / source).is_dir():
        return f"repository/{source}/folder.md"
    return f"repository/{source}.md"


class Pages:
    """Reads pages from the repository, and those that they lead to."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.wanted = [f"docs/{path.relative_to(ROOT / 'docs').as_posix()}"
                       for path in sorted((ROOT / "docs").rglob("*.md"))
                       if "site" not in path.relative_to(ROOT / "docs").parts[:1]]
        self.done = set()

    def write(self) -> int:
        while self.wanted:
            source = self.wanted.pop()
            if source not in self.done:
                self.done.add(source)
                self.write_one(source)
        return len(self.done)

    def write_one(self, source: str) -> None:
        target = self.folder / site_path(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        path = ROOT / source
        if source.endswith(PICTURES):
            target.write_bytes(path.read_bytes())
        elif path.is_dir():
            target.write_text(self.listing(source))
        elif source.endswith(".md"):
            text = front_matter(site_path(source)) + self.page(source, path.read_text())
            target.write_text(text)
        else:
            target.write_text(self.shown(source))

    def listing(self, source: str) -> str:
        names = sorted(p.name + ("/" if p.is_dir() else "") for p in (ROOT / source).iterdir()
                       if not p.name.startswith((".", "__")))
        return f"---\nsearch:\n  exclude: true\n---\n# {source}/\n\n" + "".join(
            f"- `{name}`\n" for name in names)

    def shown(self, source: str) -> str:
        data = (ROOT / source).read_bytes()
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return f"# {source}\n\nA file of {len(data)} bytes that is no text.\n"
        if len(text) > MOST_SHOWN_BYTES:
            text = text[:MOST_SHOWN_BYTES] + "\n... (cut here)\n"
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
        language = LANGUAGES.get(Path(source).suffix, "text")
        return (f"---\nsearch:\n  exclude: true\n---\n# {source}\n\n"
                f"{fence}{language}\n{text}\n{fence}\n")

    def page(self, source: str, text: str) -> str:
        parts, at = [], 0
        for code in CODE.finditer(text):
            parts += [self.relinked(source, text[at:code.start()]), code[0]]
            at = code.end()
        return "".join(parts) + self.relinked(source, text[at:])

    def relinked(self, source: str, text: str) -> str:
        return LINK.sub(lambda found: found[0] if found[1] else
                        found[2] + self.target(source, found[3]) + found[4], text)

    def target(self, source: str, link: str) -> str:
        if re.match(r"[a-z]+:|#", link):
            return link
        name, _, anchor = link.partition("#")
        found = os.path.normpath(os.path.join(os.path.dirname(source), name))
        if found.startswith("..") or not (ROOT / found).exists():
            raise BrokenLink(f"{source}: '{link}' leads to no file of the repository")
        if (ROOT / found).is_dir() and (ROOT / found / "README.md").exists():
            found += "/README.md"
        self.wanted.append(found)
        relative = os.path.relpath(site_path(found), os.path.dirname(site_path(source)) or ".")
        # A line of a file has no anchor of its own.
        return relative + (f"#{anchor}" if anchor and found.endswith(".md") else "")


def title(page: Path) -> str:
    found = re.search(r"^# (.+)$", page.read_text(), re.M)
    return found[1].replace("`", "").strip() if found else page.stem
