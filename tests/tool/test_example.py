"""examples/c as a user builds it: a project of its own, against what was installed."""

import os
import shutil
import subprocess
import unittest

from tool import SOURCE_DIR, Case


class Example(Case):
    def cmake(self, *arguments):
        result = subprocess.run([os.environ["TEST_CMAKE"], *arguments], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, timeout=250, check=False)
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_builds_and_runs_against_the_installed_library(self):
        build = self.path("build")
        self.cmake("-S", os.path.join(SOURCE_DIR, "examples/c"), "-B", build,
                   "-DCMAKE_PREFIX_PATH=" + os.environ["TEST_STAGE"],
                   "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON")
        self.cmake("--build", build)
        shutil.copy(os.path.join(SOURCE_DIR, "examples/data/astronaut.png"), self.folder)
        result = subprocess.run([os.path.join(build, "kernelmill_photo"),
                                 self.path("astronaut.png")],
                                capture_output=True, text=True, timeout=250, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("same bits as plain C++", result.stdout)


if __name__ == "__main__":
    unittest.main()
