"""The recipes of docs/guide/ci.md, and the steps of action.yml as a runner of GitHub takes them."""

import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from packages import ROOT

PAGE = ROOT / "docs/guide/ci.md"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


@dataclass
class Recipe:
    """One section: its files, its commands, and the blocks of other languages."""

    files: dict = field(default_factory=dict)
    commands: str = ""
    blocks: list = field(default_factory=list)  # pairs of language and text


def recipes() -> dict:
    """Title -> Recipe. A block after a line that is a name in backquotes and a colon is a file."""
    found = {}
    for section in re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.M)[1:]:
        title, body = section.split("\n", 1)
        recipe = found.setdefault(title, Recipe())
        for block in FENCE.finditer(body):
            named = re.search(r"(?:\A|\n)`([^`\n]+)`:\n\n\Z", body[:block.start()])
            if named:
                recipe.files[named[1]] = block[2]
            elif block[1] == "sh":
                recipe.commands += block[2]
            else:
                recipe.blocks.append((block[1], block[2]))
    return found


def lines_of_file(path: Path) -> list:
    return path.read_text().splitlines() if path.exists() else []


class Runner:
    """Runs the steps of a composite action, one after the other, in a folder."""

    def __init__(self, action: dict, inputs: dict, folder: Path):
        self.folder, self.outputs = folder, {}
        defaults = {name: given.get("default", "") for name, given in action["inputs"].items()}
        self.values = {f"inputs.{name}": text for name, text in {**defaults, **inputs}.items()}
        self.values["runner.temp"] = str(folder)
        self.files = {f"GITHUB_{name}": folder / name for name in ("ENV", "PATH", "OUTPUT")}
        for number, step in enumerate(action["runs"]["steps"]):
            self.run(step, folder / f"step{number}.sh")
        self.outputs = {name: self.expand(given["value"])
                        for name, given in action["outputs"].items()}

    def expand(self, text: str) -> str:
        """Expressions of which nothing is known are an error, as they are on GitHub."""
        return re.sub(r"\$\{\{ (\S+) \}\}", lambda found: self.values[found[1]], text)

    def run(self, step: dict, script: Path) -> None:
        assert step["shell"] == "bash"
        script.write_text(self.expand(step["run"]))
        own = {name: self.expand(text) for name, text in step.get("env", {}).items()}
        environment = {**self.environment(), **own, "GITHUB_ACTION_PATH": str(ROOT),
                       **{name: str(path) for name, path in self.files.items()}}
        done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", script],
                              cwd=self.folder, env=environment, text=True, capture_output=True,
                              check=False)
        if done.returncode != 0:
            raise AssertionError(f"{step['run']}\n{done.stdout}{done.stderr}")
        for line in lines_of_file(self.files["GITHUB_OUTPUT"]):
            name, value = line.split("=", 1)
            self.values[f"steps.{step['id']}.outputs.{name}"] = value

    def environment(self) -> dict:
        """What the steps that follow have."""
        result = {name: value for name, value in os.environ.items()
                  if not name.startswith(("KM_", "LD_LIBRARY", "PYTHON", "VIRTUAL_ENV"))}
        result.update(line.split("=", 1) for line in lines_of_file(self.files["GITHUB_ENV"]))
        for folder in lines_of_file(self.files["GITHUB_PATH"]):
            result["PATH"] = f"{folder}:{result['PATH']}"
        return result


def docker_steps(text: str) -> list:
    """The instructions of a Dockerfile without continued lines: pairs of name and rest."""
    return [tuple(line.split(" ", 1)) for line in text.splitlines() if line]
