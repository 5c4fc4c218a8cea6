"""kernelmill setup, on programs that stand in for pip: what is brought, where it lies."""

import fcntl
import os
import stat
import unittest

from tool import SOURCE_DIR, Case

# pip as the command calls it: makes what the last --target names.
PIP = """#!/bin/sh
echo "$@" >> {folder}/calls
[ "$3" = --version ] && exit {version_code}
while [ $# -gt 0 ]; do
  [ "$1" = --target ] && target=$2
  [ "$1" = -r ] && cp "$2" {folder}/requirements
  shift
done
echo "a line of pip"
mkdir -p "$target/nvidia/cu13/lib"
echo archive > "$target/nvidia/cu13/lib/libnvrtc_static.a"
echo no library > "$target/nvidia/cu13/lib/libnvrtc.so.13"
exit {code}
"""


class Setup(Case):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("bin"))
        os.mkdir(self.path("data"))
        self.environment = {"KM_NVRTC": self.path("nowhere"), "XDG_DATA_HOME": self.path("data"),
                            "PATH": f"{self.path('bin')}:/usr/bin:/bin"}

    def pip(self, code=0, version_code=0):
        text = PIP.format(folder=self.folder, code=code, version_code=version_code)
        os.chmod(self.path(self.write("bin/python3", text)), stat.S_IRWXU)

    def brought(self):
        folder = self.path("data/kernelmill/nvrtc")
        return sorted(name for _, _, names in os.walk(folder) for name in names)

    def test_packages_are_those_of_the_checkout(self):
        with open(os.path.join(SOURCE_DIR, "scripts/versions.txt"), encoding="utf-8") as file:
            rows = [line.split() for line in file if line.startswith(("wheel ", "arm64wheel "))]
        hashes = {}
        for _, name, version, sha256 in rows:
            hashes.setdefault(f"{name}=={version}", []).append(f"--hash=sha256:{sha256}")
        expected = [" ".join([name, *both]) for name, both in hashes.items()]
        self.assertEqual({len(both) for both in hashes.values()}, {2})
        self.assertEqual(self.good("setup", "--list").stdout.splitlines(), expected)

    def test_pip_fills_the_users_folder(self):
        self.pip()
        result = self.run_tool("setup", env=self.environment)
        self.assertEqual(self.brought(), ["libnvrtc.so.13"])
        self.assertEqual(os.listdir(self.path("data/kernelmill")), ["nvrtc"])
        self.assertNotIn("a line of pip", result.stdout)
        self.assertIn("a line of pip", result.stderr)
        self.assertEqual(self.read("requirements").decode(), self.good("setup", "--list").stdout)
        call = self.read("calls").decode()
        for word in ("--require-hashes", "--no-deps", "--only-binary=:all:"):
            self.assertIn(word, call)
        # KM_NVRTC names nothing here, so the new one is not found: that is a failure.
        self.assertEqual(result.returncode, 1)

    def test_a_second_copy_takes_the_place_of_the_first(self):
        self.pip()
        for _ in range(2):
            self.run_tool("setup", "--force", env=self.environment)
        self.assertEqual(os.listdir(self.path("data/kernelmill")), ["nvrtc"])

    def test_leftovers_of_killed_runs_are_removed(self):
        self.pip()
        for name in ("nvrtc.new.123", "nvrtc.old.99999", "nvrtc.new.x", "nvrtc.news"):
            os.makedirs(self.path(f"data/kernelmill/{name}/tree"))
        os.mkdir(self.path("data/kernelmill/nvrtc"))
        self.run_tool("setup", "--force", env=self.environment)
        self.assertEqual(sorted(os.listdir(self.path("data/kernelmill"))),
                         ["nvrtc", "nvrtc.new.x", "nvrtc.news"])

    def test_a_copy_that_a_killed_run_moved_aside_comes_back(self):
        self.pip(code=3)
        os.makedirs(self.path("data/kernelmill/nvrtc.old.5/nvidia"))
        self.run_tool("setup", env=self.environment)
        self.assertEqual(os.listdir(self.path("data/kernelmill")), ["nvrtc"])
        self.assertEqual(os.listdir(self.path("data/kernelmill/nvrtc")), ["nvidia"])

    def test_one_setup_at_a_time(self):
        self.pip()
        os.mkdir(self.path("data/kernelmill"))
        folder = os.open(self.path("data/kernelmill"), os.O_RDONLY)
        self.addCleanup(os.close, folder)
        fcntl.flock(folder, fcntl.LOCK_EX)
        self.assertIn("another 'kernelmill setup'", self.bad(1, "setup", env=self.environment))

    def test_what_others_made_is_not_removed_unasked(self):
        self.pip()
        os.makedirs(self.path("data/kernelmill/nvrtc/nvidia"))
        self.write("data/kernelmill/nvrtc/thesis.tex", "three years")
        for options in (["--force"], []):
            message = self.bad(1, "setup", *options, env=self.environment)
            self.assertIn("it holds 'thesis.tex'", message)
            self.assertIn("--yes", message)
        self.assertEqual(self.read("data/kernelmill/nvrtc/thesis.tex"), b"three years")
        self.run_tool("setup", "--force", "--yes", env=self.environment)
        self.assertEqual(self.brought(), ["libnvrtc.so.13"])

    def test_a_link_in_the_place_is_not_removed_unasked(self):
        self.pip()
        os.makedirs(self.path("mine/nvidia"))
        os.mkdir(self.path("data/kernelmill"))
        os.symlink(self.path("mine"), self.path("data/kernelmill/nvrtc"))
        self.assertIn("it is not a folder", self.bad(1, "setup", "--force", env=self.environment))
        self.run_tool("setup", "--force", "-y", env=self.environment)
        self.assertTrue(os.path.isdir(self.path("mine/nvidia")))
        self.assertFalse(os.path.islink(self.path("data/kernelmill/nvrtc")))

    def test_a_failure_leaves_nothing(self):
        self.pip(code=3)
        message = self.bad(1, "setup", env=self.environment)
        self.assertIn("it ended with 3", message)
        self.assertIn("setup --offline", message)
        self.assertEqual(os.listdir(self.path("data/kernelmill")), [])

    def test_packages_of_a_folder_need_no_network(self):
        self.pip()
        os.mkdir(self.path("wheels"))
        self.run_tool("setup", "--from", "wheels", env=self.environment)
        self.assertIn(f"--no-index --find-links {self.path('wheels')}",
                      self.read("calls").decode())
        self.assertIn("--from", self.bad(2, "setup", "--from", "none", env=self.environment))

    def test_a_folder_is_taken_even_if_an_nvrtc_is_found(self):
        self.good("setup", "--check")  # the checkout's
        self.pip()
        os.mkdir(self.path("wheels"))
        environment = {**self.environment, "KM_NVRTC": os.environ.get("KM_NVRTC")}
        result = self.run_tool("setup", "--from", "wheels", env=environment)
        self.assertEqual(self.brought(), ["libnvrtc.so.13"])
        self.assertIn(f"NVRTC lies in {self.path('data/kernelmill/nvrtc')}", result.stderr)
        self.assertRegex(result.stdout, r"\ANVRTC \d+\.\d+\.\d+: /")

    def test_check_brings_nothing(self):
        self.pip()
        os.mkdir(self.path("wheels"))
        for options in (["--force"], ["--from", "wheels"]):
            self.assertRegex(self.good("setup", "--check", *options).stdout, r"\ANVRTC \d")
            self.bad(1, "setup", "--check", *options, env=self.environment)
        self.assertEqual(os.listdir(self.path("data")), [])

    def test_without_pip_it_says_what_to_install(self):
        for name in ("python3", "python", "uv"):
            os.chmod(self.path(self.write(f"bin/{name}", "#!/bin/sh\nexit 1\n")), stat.S_IRWXU)
        environment = {**self.environment, "PATH": f"{self.path('bin')}:/bin"}
        result = self.run_tool("setup", env=environment)
        if "neither python3 with pip nor uv" not in result.stderr:
            self.skipTest("this machine's /usr/bin/python3 has pip")
        self.assertIn("apt install python3-pip", result.stderr)

    def test_offline_advice_names_the_packages(self):
        said = self.good("setup", "--offline").stdout
        for line in self.good("setup", "--list").stdout.splitlines():
            self.assertIn(line.split()[0], said)
        self.assertIn("kernelmill setup --from", said)

    def test_no_home(self):
        self.pip()
        nowhere = {**self.environment, "XDG_DATA_HOME": None, "HOME": None}
        message = self.bad(1, "setup", env=nowhere)
        self.assertIn("set HOME or XDG_DATA_HOME", message)

    def test_check_says_which_is_found(self):
        self.assertRegex(self.good("setup", "--check").stdout,
                         r"\ANVRTC \d+\.\d+\.\d+: /.*libnvrtc\.so\S*\n\Z")
        message = self.bad(1, "setup", "--check", env=self.environment)
        self.assertIn("Run 'kernelmill setup'", message)


if __name__ == "__main__":
    unittest.main()
