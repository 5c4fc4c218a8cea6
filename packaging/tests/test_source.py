"""A project in CMake that fetches the sources of the last commit, and builds them with its own."""

import subprocess
import unittest

from packages import ROOT, Case, version

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(fetches LANGUAGES C CXX)
include(FetchContent)
FetchContent_Declare(kernelmill GIT_REPOSITORY file://{root} GIT_TAG {commit})
FetchContent_MakeAvailable(kernelmill)
add_executable(consumer {root}/tests/install/consumer/consumer.c)
target_link_libraries(consumer PRIVATE kernelmill::kernelmill)
"""


class Source(Case):
    def test_fetch_content_builds_the_library_and_its_plugin(self):
        commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True,
                                text=True, check=True).stdout.strip()
        (self.folder / "CMakeLists.txt").write_text(PROJECT.format(root=ROOT, commit=commit))
        self.run_here("cmake", "-G", "Ninja", "-S", ".", "-B", "build")
        # The program opens the CPU, which needs the plugin: that is built with the library.
        self.run_here("cmake", "--build", "build", "--target", "consumer", "--parallel", "2")
        self.assertEqual(self.run_here("build/consumer").strip(), version())


if __name__ == "__main__":
    unittest.main()
