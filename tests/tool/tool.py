"""Runs the command and looks at what it does; small files for it to work on."""

import os
import struct
import subprocess
import tempfile
import unittest
import zlib

SOURCE_DIR = os.environ["TEST_SOURCE_DIR"]
TOOL = os.environ["TEST_TOOL"]

SCALE = """
extern "C" __global__ void scale(const float* in, float* out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = factor * in[i];
}
"""

NPY_TYPES = {"f32": ("<f4", "f"), "i32": ("<i4", "i"), "u8": ("|u1", "B"), "f64": ("<f8", "d"),
             "i64": ("<i8", "q"), "u16": ("<u2", "H")}


class Case(unittest.TestCase):
    """A test with an empty folder of its own to work in."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="km_tool_")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return name

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def scale_words(self):
        """Writes SCALE and an array; a run of it in blocks of 256."""
        self.write("scale.cu", SCALE)
        self.write("x.npy", npy("f32", [4096], range(4096)))
        return ("run", "scale.cu", "--device", "cpu", "--block", "256", "--arg", "in:x.npy",
                "--arg", "out:y.npy:@0", "--arg", "f32:2", "--arg", "i32:@0.count")

    def run_tool(self, *arguments, env=None, stdout=subprocess.PIPE):
        """Runs the command in the test's folder; `env` None for a variable takes it away."""
        variables = dict(os.environ)
        for name, value in (env or {}).items():
            variables.pop(name, None)
            if value is not None:
                variables[name] = value
        return subprocess.run([TOOL, *arguments], cwd=self.folder, env=variables, text=True,
                              errors="replace", stdin=subprocess.DEVNULL, stdout=stdout,
                              stderr=subprocess.PIPE, timeout=120, check=False)

    def good(self, *arguments, **options):
        result = self.run_tool(*arguments, **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def bad(self, code, *arguments, **options):
        """Fails with that exit code, one message, and nothing on standard output."""
        result = self.run_tool(*arguments, **options)
        self.assertEqual(result.returncode, code, f"{result.stdout}{result.stderr}")
        self.assertEqual(result.stdout, "" if options.get("stdout") is None else None)
        self.assertIn("kernelmill: ", result.stderr)
        return result.stderr


def npy(kind, shape, values):
    descriptor, code = NPY_TYPES[kind]
    header = repr({"descr": descriptor, "fortran_order": False, "shape": tuple(shape)})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
            struct.pack(f"<{len(values)}{code}", *values))


def read_npy(content):
    """(kind, shape, values) of a version 1 file."""
    if content[:8] != b"\x93NUMPY\x01\x00":
        raise ValueError("no npy file")
    length = struct.unpack("<H", content[8:10])[0]
    if (10 + length) % 64 != 0:
        raise ValueError("the data is not aligned to 64 bytes")
    # The header is a literal of Python's; eval without names reads exactly that.
    header = eval(content[10:10 + length], {"__builtins__": {}}, {})  # pylint: disable=eval-used
    kind = next(k for k, v in NPY_TYPES.items() if v[0] == header["descr"])
    data = content[10 + length:]
    code = NPY_TYPES[kind][1]
    return kind, header["shape"], list(struct.unpack(f"<{len(data) // struct.calcsize(code)}{code}",
                                                     data))


def _chunk(name, content):
    return (struct.pack(">I", len(content)) + name + content +
            struct.pack(">I", zlib.crc32(name + content)))


def png(width, height, channels, pixels):
    """An 8-bit PNG without filters."""
    color = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    stride = width * channels
    rows = b"".join(b"\0" + bytes(pixels[y * stride:(y + 1) * stride]) for y in range(height))
    return (b"\x89PNG\r\n\x1a\n" +
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, color, 0, 0, 0)) +
            _chunk(b"IDAT", zlib.compress(rows)) + _chunk(b"IEND", b""))
