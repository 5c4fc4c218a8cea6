#!/usr/bin/env python3
"""Crates: cudarc, with its examples, rustacuda and cust.

    rust.py CARGO FOLDER

unpacks them into FOLDER, and brings what they need into cargo's own store: later builds need no
network. crates/ names the versions of all of it.
"""

import json
import re
import shutil
import sys
from pathlib import Path

from common import MISSING, Client, environment_of, run, toolkit_of

CRATES = Path(__file__).parent / "crates"
CUDARC = ["--no-default-features", "--features", "std,driver,nvrtc,dynamic-loading,cuda-13020"]
NAMES = ["cudarc", "cust", "rustacuda"]
CARGO_SECONDS = 1200  # machines may be busy


def version_of(name):
    """As cargo has chosen it."""
    lock = (CRATES / "Cargo.lock").read_text()
    return re.search(rf'^name = "{name}"\nversion = "(.*)"$', lock, re.M)[1]


def unpack(cargo, manifest, folder):
    """A package of its own, with the versions of crates/, and without what only examples want."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(Path(manifest).parent, folder)
    text = (folder / "Cargo.toml").read_text()
    text = re.sub(r"^\[dev-dependencies\b.*?(?=^\[|\Z)", "", text, flags=re.M | re.S)
    (folder / "Cargo.toml").write_text(text + "\n[workspace]\n")
    shutil.copy(CRATES / "Cargo.lock", folder)
    # Cargo wants to know of each optional package too, which crates/ does not name.
    run([cargo, "metadata", "-q", "--format-version=1"], folder, seconds=600)


def fetch(cargo, folder):
    words = [cargo, "metadata", "-q", "--locked", "--format-version=1"]
    _, text = run(words, CRATES, seconds=600)
    packages = json.loads(text[text.index("{") :])["packages"]
    folder.mkdir(parents=True, exist_ok=True)
    for package in packages:
        if package["name"] in NAMES:
            unpack(cargo, package["manifest_path"], folder / package["name"])


def environment(setting):
    toolkit = toolkit_of(setting, setting.nvrtc.parent / "include")
    places = {name: str(toolkit) for name in ("CUDA_LIBRARY_PATH", "CUDA_PATH", "CUDA_ROOT")}
    return environment_of(
        setting,
        CARGO_TARGET_DIR=str(setting.work / "cargo"),
        CARGO_INCREMENTAL="0",
        CARGO_PROFILE_DEV_DEBUG="0",
        LIBRARY_PATH=str(toolkit / "lib64"),
        RUST_BACKTRACE="0",
        **places,
    )


class Crate(Client):
    """The unit tests of a crate. Those that their authors have ignored run one by one: some break
    the context for all others. So do those that fail in company: threads of a process share a
    context, and one that synchronises it ends a capture of another's."""

    def __init__(self, crate, arguments=(), name=None):
        self.crate, self.arguments = crate, arguments
        self.name, self.version = name or crate, version_of(crate)

    def missing(self, setting):
        folder = setting.crates / self.crate
        return None if folder.exists() else f"{folder} {MISSING}"

    def cargo(self, setting, *words, check=True):
        """The exit code and the output of cargo, which is not to look for anything elsewhere."""
        verb, *rest = words
        words = ["cargo", verb, "-q", "--locked", "--offline", *self.arguments, *rest]
        folder = setting.crates / self.crate
        return run(words, folder, environment(setting), check, CARGO_SECONDS)

    def results(self, setting, known):
        def tests(*options):
            # One that does not end, or takes the program with it, has no result.
            words = ["--lib", "--", "--format=pretty", *options]
            _, text = self.cargo(setting, "test", *words, check=False)
            return dict(re.findall(r"^test (\S+) (?:- should panic )?\.\.\. (\w+)", text, re.M))

        _, listed = self.cargo(setting, "test", "--lib", "--", "--list")
        found = dict.fromkeys(re.findall(r"^(\S+): test$", listed, re.M), "FAILED")
        found.update(tests())
        alone = {"ignored": ("--ignored", "--exact"), "FAILED": ("--exact",)}
        for name, result in list(found.items()):
            if result in alone:
                found.update(tests(*alone[result], name))
        return found


class Examples(Crate):
    """The examples of a crate: one passes when its program ends well."""

    def results(self, setting, known):
        found = {}
        for path in sorted((setting.crates / self.crate / "examples").glob("*.rs")):
            reason = known.reason(known.skip, path.stem)
            if reason:
                found[path.stem] = f"skipped: {reason}"
            else:
                code, _ = self.cargo(setting, "run", "--example", path.stem, check=False)
                found[path.stem] = "ok" if code == 0 else "FAILED"
        return found


CLIENTS = [
    Crate("cudarc", CUDARC),
    Examples("cudarc", CUDARC, "cudarc-examples"),
    Crate("rustacuda"),
    Crate("cust"),
]

if __name__ == "__main__":
    fetch(sys.argv[1], Path(sys.argv[2]))
