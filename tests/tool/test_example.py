"""examples/c and cpp as a user builds them: projects of their own, against what was installed."""

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

    def run_installed(self, project, program, *arguments):
        """Builds a project against the installed library, and runs a program of it."""
        build = self.path("build")
        self.cmake("-S", os.path.join(SOURCE_DIR, "examples", project), "-B", build,
                   "-DCMAKE_PREFIX_PATH=" + os.environ["TEST_STAGE"],
                   "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON")
        self.cmake("--build", build)
        shutil.copy(os.path.join(SOURCE_DIR, "examples/data/astronaut.png"), self.folder)
        result = subprocess.run([os.path.join(build, program), self.path("astronaut.png"),
                                 *arguments],
                                capture_output=True, text=True, timeout=250, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result

    def test_c_builds_and_runs_against_the_installed_library(self):
        result = self.run_installed("c", "kernelmill_photo")
        self.assertIn("same bits as plain C++", result.stdout)

    def test_cpp_builds_and_runs_against_the_installed_library(self):
        self.run_installed("cpp", "sobel", self.path("edges.pgm"))
        self.assertTrue(self.read("edges.pgm").startswith(b"P5\n512 512\n255\n"))


if __name__ == "__main__":
    unittest.main()
