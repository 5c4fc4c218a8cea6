"""The documentation's site as readers open it: from a folder, in a browser, without a network."""

import html.parser
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from urllib.parse import unquote, urlsplit

SITE = Path(os.environ.get("DOCS_SITE", "build/docs")).resolve()
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
BROWSER = next((shutil.which(name) for name in BROWSERS if shutil.which(name)), None)


class Page(html.parser.HTMLParser):
    """The links, pictures, scripts and anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.anchors.update(attributes[name] for name in ("id", "name") if attributes.get(name))
        for name in ("href", "src"):
            if attributes.get(name):
                self.links.append(attributes[name])


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pages = {path: Page(path.read_text(encoding="utf-8"))
                     for path in SITE.rglob("*.html")}

    def test_all_pages_are_there(self):
        self.assertGreater(len(self.pages), 80)

    def test_no_link_is_broken(self):
        broken = []
        for path, page in self.pages.items():
            for link in page.links:
                parts = urlsplit(link)
                if parts.scheme or parts.netloc or path.name == "404.html":
                    continue
                target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
                if not target.exists() or target.is_dir():
                    broken.append(f"{path.relative_to(SITE)}: {link}")
                elif parts.fragment and target in self.pages and not (
                        unquote(parts.fragment) in self.pages[target].anchors):
                    broken.append(f"{path.relative_to(SITE)}: {link} has no such anchor")
        self.assertEqual(broken, [])

    def test_nothing_is_loaded_from_elsewhere(self):
        for path, page in self.pages.items():
            text = path.read_text(encoding="utf-8")
            for tag in re.findall(r"<(?:script|link|img|iframe)\b[^>]*>", text):
                self.assertNotRegex(tag, r"(src|href)=\"?https?:(?!//[^\"]*\" rel=\"canonical)",
                                    path.name)

    @unittest.skipUnless(BROWSER, "no Chromium is installed")
    def test_search_finds_a_function(self):
        dom = browse("index.html?q=km_launch_submit", "--dump-dom")
        found = re.search(r"(\d+) matching documents?", dom)
        self.assertTrue(found, "the search says nothing")
        self.assertRegex(dom, r"reference/c-api/launch\.html[^\"]*#km_launch_submit")

    @unittest.skipUnless(BROWSER, "no Chromium is installed")
    def test_search_puts_how_to_and_what_holds_first(self):
        for query, wanted in (("memory", "guide|reference"), ("streams", "guide|reference"),
                              ("barrier", "guide|reference"), ("numpy", "guide"),
                              ("scheduler", "internals")):  # which no page of the guide is about
            dom = browse(f"index.html?q={query}", "--dump-dom")
            found = re.findall(r'<a href="([^"]+)" class="md-search-result__link"', dom)
            self.assertTrue(found, query)
            self.assertRegex(found[0], rf"/(?:{wanted})/", query)

    def test_the_front_page_says_what_it_is_and_how_to_begin(self):
        text = (SITE / "index.html").read_text(encoding="utf-8")
        for words in ("any CPU and on NVIDIA GPUs", "pip install", "A first program",
                      "guide/install.html", "guide/python.html"):
            self.assertIn(words, text)

    @unittest.skipUnless(BROWSER, "no Chromium is installed")
    def test_pictures_of_pages(self):
        with tempfile.TemporaryDirectory() as folder:
            for width in (1280, 400):
                picture = Path(folder, f"{width}.png")
                browse("guide/profiling.html", f"--window-size={width},1600",
                       f"--screenshot={picture}")
                self.assertGreater(picture.stat().st_size, 10_000)
                keep = os.environ.get("DOCS_PICTURES")
                if keep:
                    shutil.copy(picture, keep)

    def test_pictures_of_a_report_and_a_trace_are_shown(self):
        text = (SITE / "guide/profiling.html").read_text(encoding="utf-8")
        for name in ("report.png", "trace.png"):
            self.assertIn(f"site/{name}", text)
            self.assertGreater((SITE / "site" / name).stat().st_size, 3_000)


def browse(page, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                   "--disable-dev-shm-usage", f"--user-data-dir={folder}",
                   "--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=20000",
                   *arguments, f"file://{SITE}/{page}"]
        return subprocess.run(command, capture_output=True, text=True, timeout=300,
                              check=True).stdout


if __name__ == "__main__":
    unittest.main()
