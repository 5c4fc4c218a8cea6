"""kernelmill info."""

import json
import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from tool import SOURCE_DIR, TOOL, Case


class Info(Case):
    def json(self, *arguments, env=None):
        return json.loads(self.good("info", "--json", *arguments, env=env).stdout)

    def test_says_version_devices_backends_compiler(self):
        result = self.good("info", "--verbose")
        for heading in ("kernelmill ", "Devices\n", "Backends\n", "CUDA C++ compiler\n"):
            self.assertIn(heading, result.stdout)
        self.assertEqual(result.stderr, "")

    def test_is_short(self):
        text = self.good("info", env={"KM_CPU_THREADS": "1"}).stdout
        self.assertLessEqual(len(text.splitlines()), 9, text)
        self.assertRegex(text, r"(?m)^  cpu:0   .*, 1 thread, [0-9.]+ GiB "
                         r"\(half of the machine's; KM_CPU_MEMORY_MIB\), compute capability")
        self.assertRegex(text, r"(?m)^  NVRTC   [0-9.]+, /")
        self.assertIn("  set     KM_CPU_THREADS=1\n", text)
        self.assertEqual(text.count("(auto)"), 1)
        self.assertNotIn("\x1b", text)

    def test_json_agrees_with_the_text(self):
        data = self.json()
        self.assertIn(data["version"], self.good("--version").stdout)
        text = self.good("info").stdout
        for device in data["devices"]:
            self.assertIn(device["uri"], text)
        self.assertIn("cpu", [backend["name"] for backend in data["backends"]])
        for backend in data["backends"]:
            self.assertEqual(backend["usable"], backend["status"] == "KM_SUCCESS")

    def test_a_backend_that_is_not_there_is_explained(self):
        env = {"KM_PLUGIN_DIR": self.folder}
        data = self.json(env=env)
        cpu = next(b for b in data["backends"] if b["name"] == "cpu")
        self.assertFalse(cpu["usable"])
        self.assertIn(self.folder, cpu["reason"])
        self.assertIn(self.folder, self.good("info", env=env).stdout)
        self.assertEqual([d for d in data["devices"] if d.get("backend") == "cpu"], [])

    def test_auto_says_what_it_takes_and_why(self):
        candidates = self.json()["auto"]
        chosen = [c for c in candidates if c["outcome"] == "chosen"]
        self.assertEqual(len(chosen), 1, candidates)
        self.assertIn(f"{chosen[0]['uri']}   chosen: ",
                      self.good("info", "--verbose").stdout)
        forced = self.json(env={"KM_DEVICE": "abacus"})["auto"]
        self.assertEqual([c["outcome"] for c in forced], ["refused", "not tried", "not tried"])
        self.assertIn("there is no backend 'abacus'", forced[0]["reason"])

    def test_a_backend_that_no_build_has_is_explained(self):
        forced = self.json(env={"KM_DEVICE": "webgl2"})["auto"]
        self.assertEqual(forced[0]["outcome"], "refused")
        self.assertIn("no compute shaders", forced[0]["reason"])

    def test_nvrtc(self):
        nvrtc = self.json()["nvrtc"]
        self.assertTrue(nvrtc["usable"], nvrtc)
        self.assertRegex(nvrtc["release"], r"^\d+\.\d+")
        self.assertRegex(nvrtc["path"], r"^/.*libnvrtc\.so")

    def test_missing_nvrtc_is_explained(self):
        nvrtc = self.json(env={"KM_NVRTC": self.path("nowhere")})["nvrtc"]
        self.assertFalse(nvrtc["usable"])
        self.assertIn(self.path("nowhere"), nvrtc["reason"])
        self.assertIn("kernelmill setup", nvrtc["reason"])
        self.assertEqual(nvrtc["status"], "KM_ERROR_NVRTC_UNAVAILABLE")

    def test_missing_nvrtc_is_one_line(self):
        text = self.good("info", env={"KM_NVRTC": self.path("nowhere")}).stdout
        self.assertIn("\n  NVRTC   not where KM_NVRTC says: correct or unset it; CUDA C++ needs "
                      "it, PTX does not\n", text)
        # A copy of the command and the library, far from the checkout's NVRTC.
        prefix, built = Path(self.path("far")), Path(TOOL).resolve().parents[1]
        for name in ("bin/kernelmill", "lib/libkernelmill.so.1"):
            (prefix / name).parent.mkdir(parents=True)
            shutil.copy(built / name, prefix / name)
        clean = {name: value for name, value in os.environ.items()
                 if name not in ("KM_NVRTC", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "CONDA_PREFIX")}
        done = subprocess.run([prefix / "bin/kernelmill", "info"], text=True, timeout=120,
                              capture_output=True, check=True,
                              env={**clean, "HOME": self.folder, "XDG_DATA_HOME": self.folder})
        if "NVRTC   not installed" in done.stdout:  # the system itself may have one
            self.assertIn("\n  NVRTC   not installed: 'kernelmill setup' brings it; CUDA C++ needs "
                          "it, PTX does not\n", done.stdout)
        else:
            self.assertRegex(done.stdout, r"\n  NVRTC   [0-9.]+, /")

    def test_environment_table_is_that_of_the_library(self):
        with open(os.path.join(SOURCE_DIR, "src/base/env.def"), encoding="utf-8") as file:
            names = re.findall(r"^KM_ENV\((KM_\w+)", file.read(), re.M)
        text = self.good("info", "--env").stdout
        self.assertEqual(re.findall(r"^(KM_\w+)=", text, re.M), names)
        self.assertEqual([row["name"] for row in self.json("--env")], names)

    def test_values_that_are_set(self):
        env = {"KM_CPU_THREADS": "1", "KM_LOG_FILE": "odd \udcff name"}
        text = self.good("info", "--verbose", env=env).stdout
        self.assertIn("KM_CPU_THREADS=1", text.split("Environment")[1])
        rows = {row["name"]: row for row in self.json("--env", env=env)}
        self.assertEqual(rows["KM_CPU_THREADS"]["value"], "1")
        self.assertEqual(rows["KM_LOG_FILE"]["value"], "odd \ufffd name")


if __name__ == "__main__":
    unittest.main()
