"""Crates: cudarc, with its examples, rustacuda and cust."""

import json
import re
import shutil
from pathlib import Path

from common import environment_of, run, toolkit_of

CUDARC = ["--no-default-features", "--features", "std,driver,nvrtc,dynamic-loading,cuda-13020"]


def source_of(name, version, work):
    """The crate's own folder, unpacked by cargo, copied to where it can be built."""
    folder = work / f"{name}-{version}"
    if folder.exists():
        return folder
    probe = work / "fetch" / name
    (probe / "src").mkdir(parents=True, exist_ok=True)
    (probe / "src/lib.rs").write_text("")
    (probe / "Cargo.toml").write_text(
        f'[package]\nname = "fetch-{name}"\nversion = "0.1.0"\nedition = "2021"\n\n'
        f"[workspace]\n\n[dependencies]\n"
        f'{name} = {{ version = "={version}", default-features = false }}\n'
    )
    _, text = run(["cargo", "metadata", "-q", "--format-version", "1"], probe)
    found = json.loads(text[text.index("{") :])
    manifest = next(each["manifest_path"] for each in found["packages"] if each["name"] == name)
    shutil.copytree(Path(manifest).parent, folder)
    with open(folder / "Cargo.toml", "a") as file:
        file.write("\n[workspace]\n")
    return folder


def environment(setting):
    toolkit = toolkit_of(setting, setting.nvrtc.parent / "include")
    places = {name: str(toolkit) for name in ("CUDA_LIBRARY_PATH", "CUDA_PATH", "CUDA_ROOT")}
    library = str(toolkit / "lib64")
    return environment_of(setting, LIBRARY_PATH=library, RUST_BACKTRACE="0", **places)


class Crate:
    """The unit tests of a crate. Those that their authors have ignored run one by one: some break
    the context for all others."""

    def __init__(self, name, version, arguments=()):
        self.name, self.version, self.arguments = name, version, arguments

    def results(self, setting, known):
        folder = source_of(self.name, self.version, setting.work)
        variables = environment(setting)

        def tests(*options):
            words = ["cargo", "test", "--lib", *self.arguments, "--", *options]
            _, text = run(words, folder, variables, check=False)
            return dict(re.findall(r"^test (\S+) (?:- should panic )?\.\.\. (\w+)", text, re.M))

        found = tests()
        for name in [name for name, result in found.items() if result == "ignored"]:
            found.update(tests("--ignored", "--exact", name))
        return found


class Examples:
    """The examples of a crate: one passes when its program ends well."""

    def __init__(self, name, version, crate, arguments):
        self.name, self.version, self.crate, self.arguments = name, version, crate, arguments

    def results(self, setting, known):
        folder = source_of(self.crate, self.version, setting.work)
        variables = environment(setting)
        found = {}
        for path in sorted((folder / "examples").glob("*.rs")):
            reason = known.reason(known.skip, path.stem)
            if reason:
                found[path.stem] = f"skipped: {reason}"
                continue
            words = ["cargo", "run", "-q", "--example", path.stem, *self.arguments]
            code, _ = run(words, folder, variables, check=False)
            found[path.stem] = "ok" if code == 0 else "FAILED"
        return found


CLIENTS = [
    Crate("cudarc", "0.19.10", CUDARC),
    Examples("cudarc-examples", "0.19.10", "cudarc", CUDARC),
    Crate("rustacuda", "0.1.3"),
    Crate("cust", "0.3.2"),
]
