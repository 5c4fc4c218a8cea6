"""Go packages: gorgonia.org/cu, and cuda/cu of mumax."""

import json
import re
import shutil
from pathlib import Path

from common import Client, environment_of, headers_of_12, run, toolkit_of

MUMAX = "https://github.com/mumax/3"
# A goroutine may go on in another thread between two calls, where CUDA knows no current context.
# Programs lock their threads; these tests do not.
MOVED = "CUDA_ERROR_INVALID_CONTEXT"
ATTEMPTS = 8
LIMIT_S = 120  # one of gorgonia's tests waits for ever where its thread has lost the context


class Package(Client):
    def __init__(self, name, version, fetch):
        self.name, self.version, self.fetch = name, version, fetch

    def results(self, setting, known):
        folder = self.fetch(self.version, setting.work)
        toolkit = toolkit_of(setting, headers_of_12(setting.work))
        variables = environment_of(
            setting,
            CGO_CFLAGS=f"-I{toolkit}/include -Wno-deprecated-declarations",
            CGO_LDFLAGS=f"-L{toolkit}/lib64",
            GOMAXPROCS="2",  # one of gorgonia's tests keeps a processor busy with waiting
        )
        program = folder / "km.test"
        run(["go", "test", "-c", "-o", program, "."], folder, variables)
        # What a package does at its beginning makes calls already, so names come from the sources.
        text = "".join(path.read_text() for path in sorted(folder.glob("*_test.go")))
        names = re.findall(r"^func (Test\w*)\(\w+ \*testing\.T\)", text, re.M)
        return {name: self.result(program, name, folder, variables) for name in names}

    @staticmethod
    def result(program, name, folder, variables):
        for _ in range(ATTEMPTS):
            words = ["timeout", str(LIMIT_S), program, "-test.v", "-test.run", f"^{name}$"]
            code, text = run(words, folder, variables, check=False)
            if code == 0 and f"--- PASS: {name} " in text:
                return "ok"
            if MOVED not in text and code != 124:
                break
        return "FAILED"


def fetch_gorgonia(version, work):
    folder = work / f"gorgonia-{version}"
    if not folder.exists():
        words = ["go", "mod", "download", "-json", f"gorgonia.org/cu@v{version}"]
        shutil.copytree(json.loads(run(words, work)[1])["Dir"], folder)
        for path in [folder, *folder.rglob("*")]:  # the module cache is read-only
            path.chmod(path.stat().st_mode | 0o200)
    return folder


def fetch_mumax(version, work):
    """It has no go.mod, and one of its tests gives an absolute path to a file in its folder."""
    folder = work / f"mumax-{version}"
    if not folder.exists():
        source = work / "fetch/mumax"
        if not source.exists():
            run(["git", "clone", "-q", "--depth=1", f"--branch=v{version}", MUMAX, source], work)
        shutil.copytree(source / "cuda/cu", folder)
        (folder / "go.mod").write_text("module github.com/mumax/3/cuda/cu\n\ngo 1.17\n")
        test = folder / "module_test.go"
        test.write_text(test.read_text().replace('"/testdata', '"testdata'))
    return Path(folder)


CLIENTS = [
    Package("gorgonia", "0.9.6", fetch_gorgonia),
    Package("mumax", "3.9.3", fetch_mumax),
]
