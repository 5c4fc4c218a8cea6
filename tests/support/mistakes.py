"""docs/guide/mistakes.md, read: each mistake with its code and the message that it gets."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/guide/mistakes.md"
MISTAKE = re.compile(r"^### (\d+)\. (.*?)\n(.*?)```(\w+)\n(.*?)```\n\n```text\n(.*?)```\n",
                     re.M | re.S)
VARIABLE = re.compile(r"`(KM_\w+)=([^`]+)`")


@dataclass
class Mistake:
    """One of the page; `text` is what the page says of it before the code."""

    number: int
    title: str
    text: str
    language: str
    code: str
    message: str

    def __str__(self):
        return f"{self.number}. {self.title}"

    @property
    def compiles(self) -> bool:
        return "does not compile" not in self.text

    @property
    def variables(self) -> dict:
        """Those of the environment that the text names."""
        return dict(VARIABLE.findall(self.text))

    @property
    def pattern(self):
        """The message as a regular expression; "..." is any text."""
        parts = (re.escape(part) for part in self.message.split("..."))
        return re.compile(".*?".join(parts), re.S)


def mistakes() -> list:
    found = []
    for number, title, text, language, code, message in MISTAKE.findall(PAGE.read_text("utf-8")):
        found.append(Mistake(int(number), title, text, language, code.strip(), message.strip()))
    return found
