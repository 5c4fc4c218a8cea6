"""docs/guide/ci.md as its readers follow it: the action, the images, a recipe for each language."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from packages import DIST, ROOT, WHEEL, Case, one, version
from recipes import Runner, recipes
from roots import RootCase

sys.path.insert(0, str(ROOT / "packaging"))
from bindings import tools  # noqa: E402

ACTIONLINT = ROOT / ".deps/dist/bin/actionlint"
TO_JSON = "import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)))"


class Yaml:
    """Reads YAML by a Python of its own, which has the package for it."""

    def __init__(self, folder: Path):
        self.python = folder / "yaml/bin/python"
        subprocess.run([sys.executable, "-m", "venv", folder / "yaml"], check=True)
        subprocess.run([self.python, "-m", "pip", "install", "--quiet", "pyyaml"], check=True)

    def read(self, text: str):
        done = subprocess.run([self.python, "-c", TO_JSON], input=text, capture_output=True,
                              text=True, check=True)
        return json.loads(done.stdout)


class Recipes(Case):
    """The action has run once; each recipe takes the environment that it leaves."""

    @classmethod
    def setUpClass(cls):
        cls.place = Path(tempfile.mkdtemp(prefix="km_dist_"))
        cls.addClassCleanup(shutil.rmtree, cls.place, ignore_errors=True)
        action = Yaml(cls.place).read((ROOT / "action.yml").read_text())
        cls.runner = Runner(action, {"package": str(one(WHEEL))}, cls.place)
        cls.environment = cls.runner.environment()
        cls.recipes = recipes()

    def follow(self, title: str) -> None:
        recipe = self.recipes[title]
        for name, text in recipe.files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        found = [str(Path(tools()[name]).parent) for name in ("cargo", "go")]
        path = ":".join([self.environment["PATH"], *found])
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", recipe.commands], cwd=self.folder,
                              env={**self.environment, "PATH": path,
                                   "KERNELMILL_WHEEL": str(one(WHEEL))},
                              text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, f"{title}\n{done.stdout}{done.stderr}")

    def test_the_action_leaves_what_builds_need(self):
        library_dir = Path(self.environment["KM_LIBRARY_DIR"])
        self.assertEqual(self.runner.outputs, {"library-dir": str(library_dir)})
        self.assertTrue((library_dir / "libkernelmill.so").exists())
        self.assertTrue((Path(self.environment["KERNELMILL_CUDA_INCLUDE"]) / "cuda.h").exists())
        self.assertTrue((Path(self.environment["KERNELMILL_CUDA_LIB"]) / "libcuda.so").exists())
        found = subprocess.run(["pkg-config", "--modversion", "kernelmill"], text=True,
                               env=self.environment, capture_output=True, check=True)
        self.assertEqual(found.stdout.strip(), version())
        source = ROOT / "tests/install/consumer"
        subprocess.run(["cmake", "-S", source, "-B", self.folder / "build", "-DWITH_KERNELS=OFF"],
                       env=self.environment, stdout=subprocess.DEVNULL, check=True)

    def test_every_recipe_is_followed(self):
        with_commands = {title for title, recipe in self.recipes.items() if recipe.commands}
        tested = {"Python: numba", "Python: Triton", "Python: tinygrad", "Rust: cudarc", "Go: cgo",
                  "C++: CMake and CTest", "Python: kernels of your own"}
        self.assertEqual(with_commands, tested)
        for title in tested - {"Python: kernels of your own"}:
            self.assertIn("kernelmill exec --", self.recipes[title].commands, title)

    def test_numba(self):
        self.follow("Python: numba")

    def test_kernels_of_their_own(self):
        self.follow("Python: kernels of your own")

    def test_triton(self):
        self.follow("Python: Triton")

    def test_tinygrad(self):
        self.follow("Python: tinygrad")

    def test_rust(self):
        self.follow("Rust: cudarc")

    def test_go(self):
        self.follow("Go: cgo")

    def test_cpp(self):
        self.follow("C++: CMake and CTest")


class Action(Case):
    def test_it_takes_the_wheel_of_its_own_version(self):
        done = subprocess.run([ROOT / "packaging/ci/install.sh", "env"], cwd=self.folder, text=True,
                              env={"PATH": f"{self.stand_in()}:/usr/bin:/bin"},
                              capture_output=True, check=False)
        name = one(WHEEL).name
        asked = f"releases/download/v{version()}/{name}"
        self.assertIn(asked, done.stderr)
        self.assertNotEqual(done.returncode, 0)

    def stand_in(self) -> Path:
        """A python3 whose virtual environments have a pip that finds nothing."""
        folder = self.folder / "bin"
        folder.mkdir()
        python = folder / "python3"
        python.write_text('#!/bin/sh\n[ "$1 $2" = "-m venv" ] || exit 1\n'
                          'mkdir -p "$3/bin" && cp "$0" "$3/bin/python"\n')
        python.chmod(0o755)
        return folder

    @unittest.skipUnless(ACTIONLINT.exists(), "needs actionlint: scripts/setup.sh dist")
    def test_actionlint_finds_nothing(self):
        workflows = sorted((ROOT / ".github/workflows").glob("*.yml"))
        self.assertIn("uses: ./", "".join(path.read_text() for path in workflows))
        subprocess.run([ACTIONLINT, *workflows], cwd=ROOT, check=True)

    @unittest.skipUnless(ACTIONLINT.exists(), "needs actionlint: scripts/setup.sh dist")
    def test_actionlint_finds_an_input_that_is_not_there(self):
        """So the check above sees action.yml."""
        shutil.copy(ROOT / "action.yml", self.folder)
        workflow = self.folder / ".github/workflows/packages.yml"
        workflow.parent.mkdir(parents=True)
        text = (ROOT / ".github/workflows/packages.yml").read_text()
        workflow.write_text(re.sub(r"package: \$", "other: $", text))
        (self.folder / ".git").mkdir()
        done = subprocess.run([ACTIONLINT, workflow], cwd=self.folder, capture_output=True,
                              text=True, check=False)
        self.assertIn('input "other" is not defined in action', done.stdout)


class Images(RootCase):
    """The recipes for GitLab and Docker in a root of Debian 12, which stands for the image."""

    def blocks(self, language: str) -> list:
        return [text for kind, text in recipes()["Installing it in a job"].blocks
                if kind == language]

    def test_gitlab(self):
        job = Yaml(self.folder).read(self.blocks("yaml")[1])["test"]
        self.assertEqual(job["image"], "debian:12")
        root = self.root("bookworm")
        wheel = one(WHEEL)
        shutil.copy(wheel, root.path / "root")
        script = "\n".join(["set -eo pipefail", *job["before_script"], *job["script"]])
        with self.first_kernel("GitLab's recipe (without the kernel)"):
            self.good(root, "bash", "-c", script, KERNELMILL_WHEEL=f"/root/{wheel.name}")

    def test_docker(self):
        root = self.root("bookworm")
        entry, settings = self.follow_dockerfile(root, self.blocks("dockerfile")[0])
        program = "import ctypes; print(ctypes.CDLL('libcuda.so.1').cuInit(0))"
        said = self.good(root, *entry, "python3", "-c", program, **settings)
        self.assertEqual(said, "0\n")


if __name__ == "__main__":
    unittest.main()
