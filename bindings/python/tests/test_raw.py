"""The raw layer, the search for the library, the types of the module."""

import ctypes
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import ROOT, km

PACKAGE = ROOT / "bindings/python/kernelmill"


def run(program, **variables):
    """A program in a process of its own, without our variables but those given."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("KM_")}
    return subprocess.run([sys.executable, "-c", program], env={**clean, **variables,
                          "PYTHONPATH": str(PACKAGE.parent)}, capture_output=True, text=True,
                          timeout=120)


class Raw(unittest.TestCase):
    def test_structures_have_the_sizes_of_the_headers(self):
        for name, size in km.abi.SIZES.items():
            self.assertEqual(ctypes.sizeof(getattr(km.abi, name)), size, name)

    def test_every_function_is_there(self):
        for name in km.abi.PROTOTYPES:
            self.assertTrue(callable(getattr(km.raw, name)), name)
        with self.assertRaises(AttributeError):
            km.raw.km_nothing
        self.assertFalse(hasattr(km.raw, "__wrapped__"))

    def test_calls(self):
        parts = [ctypes.c_uint32() for _ in range(3)]
        self.assertEqual(km.raw.km_version(*map(ctypes.byref, parts)), km.abi.KM_SUCCESS)
        self.assertEqual(".".join(str(part.value) for part in parts), km.__version__)
        with self.assertRaises(ctypes.ArgumentError):
            km.raw.km_device_open(5, None)

    def test_a_missing_library_is_an_error_that_says_where(self):
        program = ("import kernelmill as km\ntry:\n    km.Context()\n"
                   "except km.Error as error:\n    print(error)")
        done = run(program, KM_LIBRARY_DIR="/nowhere")
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.stdout.strip(), "libkernelmill.so.1 was not found. Install the wheel "
                         "of Kernelmill, or set KM_LIBRARY_DIR to the folder that holds it. Tried: "
                         "/nowhere/libkernelmill.so.1 is not there [KM_ERROR_BACKEND_UNAVAILABLE]")

    def test_importing_loads_nothing(self):
        program = ("import sys, kernelmill; print('numpy' in sys.modules, "
                   "'libkernelmill' in open('/proc/self/maps').read())")
        self.assertEqual(run(program).stdout, "False False\n")

    @unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not installed")
    def test_types(self):
        with tempfile.TemporaryDirectory() as folder:
            user = Path(folder, "user.py")
            user.write_text("import kernelmill as km\n"
                            "context = km.Context('cpu')\n"
                            "reveal_type(context.zeros(3).tolist())\n"
                            "context.stream(priority='high')\n")
            command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", folder]
            done = subprocess.run([*command, PACKAGE], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout)
            done = subprocess.run([*command, user], capture_output=True, text=True,
                                  env={**os.environ, "MYPYPATH": str(PACKAGE.parent)})
            self.assertIn('Revealed type is "list[Any]"', done.stdout.replace("builtins.", ""))
            self.assertIn('expected "int"', done.stdout)


if __name__ == "__main__":
    unittest.main()
