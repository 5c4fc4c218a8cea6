#!/usr/bin/env python3
"""Builds the documentation's site: build.py --output FOLDER [--pictures FOLDER].

The pages come from the repository (pages.py); mkdocs with its Material theme makes HTML of them,
which works from a folder, search included.
"""

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

from pages import BrokenLink, Pages, title

HERE = Path(__file__).resolve().parent
PARTS = (("Guide", "guide"), ("Reference", "reference"), ("Internals", "internals"),
         ("Reports", "reports"))
FIRST = {"guide": ["install.md", "mistakes.md", "profiling.md"],
         "internals": ["index.md", "architecture.md"]}


def navigation(pages: Path) -> list:
    parts: list = [{"Documentation": "index.md"}]
    for name, folder in PARTS:
        found = sorted(path.name for path in (pages / folder).glob("*.md"))
        first = [page for page in FIRST.get(folder, []) if page in found]
        entries = [{title(pages / folder / page): f"{folder}/{page}"}
                   for page in first + [page for page in found if page not in first]]
        if folder == "reference":
            headers = sorted((pages / "reference/c-api").glob("*.md"),
                             key=lambda path: (path.name != "index.md", path.name))
            entries.insert(0, {"The C ABI": [{title(path): f"reference/c-api/{path.name}"}
                                             for path in headers]})
            entries.insert(1, {"The bindings": "bindings.md"})
        parts.append({name: entries})
    parts.append({"Contributing": "CONTRIBUTING.md"})
    return parts


def configuration(pages: Path, output: Path) -> dict:
    palette = [
        {"media": f"(prefers-color-scheme: {name})", "scheme": scheme, "primary": "indigo",
         "toggle": {"icon": icon, "name": f"{other} style"}}
        for name, scheme, icon, other in (
            ("light", "default", "material/weather-night", "Dark"),
            ("dark", "slate", "material/weather-sunny", "Light"))]
    return {
        "site_name": "Kernelmill",
        "site_description": "CUDA kernels on any CPU and on NVIDIA GPUs, by one C ABI",
        "docs_dir": str(pages), "site_dir": str(output), "nav": navigation(pages),
        "theme": {"name": "material", "font": False, "palette": palette,
                  "features": ["navigation.tabs", "navigation.top", "search.highlight",
                               "search.share", "content.code.copy", "toc.follow"]},
        # Without a server a page may not start a worker; worker.js puts a frame in its place. The
        # name is that by which the theme knows that there is one.
        "extra": {"polyfills": ["site/iframe-worker.js"], "generator": False},
        "extra_css": ["site/extra.css"],
        "plugins": ["search", "offline"],
        "validation": {"nav": {"omitted_files": "ignore"},
                       "links": {"anchors": "warn", "not_found": "warn",
                                 "absolute_links": "warn"}},
        "markdown_extensions": ["tables", "toc", "fenced_code", "md_in_html", "attr_list",
                                "pymdownx.superfences",
                                {"pymdownx.highlight": {"use_pygments": True}}],
        "strict": True,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description="builds the documentation's site")
    parser.add_argument("--output", type=Path, required=True, help="where the site goes")
    parser.add_argument("--pictures", type=Path, help="a folder with report.png and trace.png")
    options = parser.parse_args()
    output = options.output.resolve()
    work = output.with_name(output.name + "-pages")
    shutil.rmtree(work, ignore_errors=True)
    try:
        count = Pages(work).write()
    except BrokenLink as broken:
        print(f"docs: {broken}", file=sys.stderr)
        return 1
    (work / "site").mkdir()
    shutil.copy(HERE / "worker.js", work / "site/iframe-worker.js")
    shutil.copy(HERE / "extra.css", work / "site/extra.css")
    if options.pictures:
        for picture in sorted(options.pictures.glob("*.png")):
            shutil.copy(picture, work / "site" / picture.name)
        add_pictures(work / "guide/profiling.md")
    config = work.with_name(work.name + ".yml")
    config.write_text(json.dumps(configuration(work, output), indent=1))  # YAML has JSON in it
    done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--quiet", "-f", config],
                          check=False)
    if done.returncode == 0:
        print(f"docs: {count} pages in {output}; open {output / 'index.html'}")
    return done.returncode


def add_pictures(page: Path) -> None:
    """A page with pictures of what it is about, which are made anew each time."""
    pictures = page.parent.parent / "site"
    text = page.read_text()
    for name, about in (("report.png", "A report"), ("trace.png", "A trace in Perfetto's format")):
        if (pictures / name).exists():
            text += f"\n![{about}](../site/{name})\n"
    page.write_text(text)


if __name__ == "__main__":
    sys.exit(main())
