"""The wheel `kernelmill`: the installed tree inside a Python package that has no compiled part.

Wheels hold no symbolic links. A second name of a library is a small library that needs the first:
a process has the library once under either name. Linkers find nothing in that one, so the folder
`stubs` beside it has the name as a script for them, as libkernelmill.so is one.
"""

import base64
import hashlib
import subprocess
import tempfile
import time
import zipfile
from pathlib import Path

from machine import Machine, glibc_of
from tree import Tree, time_s

HERE = Path(__file__).resolve().parent
MODULE = HERE.parent / "bindings/python/kernelmill"
# What compiles CUDA C++, and the headers it compiles with.
NEEDED = ["nvidia-cuda-nvrtc>=13,<14", "nvidia-cuda-runtime>=13,<14", "nvidia-cuda-cccl>=13,<14"]
LICENCES = ["LICENSE", "THIRD_PARTY"]
METADATA = """\
Metadata-Version: 2.4
Name: kernelmill
Version: {version}
Summary: Runs CUDA-style kernels on NVIDIA GPUs and on any CPU
License-Expression: Apache-2.0
Requires-Python: >=3.9
Classifier: Development Status :: 5 - Production/Stable
Classifier: Intended Audience :: Developers
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Typing :: Typed
Provides-Extra: numpy
Requires-Dist: numpy; extra == "numpy"
Description-Content-Type: text/markdown
"""


def forwarder(target: str, machine: Machine) -> bytes:
    """A shared library that holds nothing and needs `target`, which lies beside it."""
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        (work / "empty.c").write_text("")
        subprocess.run([*machine.compiler, "-shared", "-nostdlib", "-o", work / target,
                        f"-Wl,-soname,{target}", work / "empty.c"], check=True)
        subprocess.run([*machine.compiler, "-shared", "-nostdlib", "-o", work / "out",
                        "-Wl,--no-as-needed", "-Wl,-rpath,$ORIGIN", "-Wl,--build-id=none", "-s",
                        "-Wl,-z,relro", "-Wl,-z,now", work / "empty.c", work / target], check=True)
        return (work / "out").read_bytes()


def without_links(tree: Tree, machine: Machine) -> Tree:
    """What a wheel can hold of the tree. Files take the place of the links that programs load."""
    result = Tree({path: entry for path, entry in tree.items() if not entry.target})
    for path, entry in sorted(tree.items()):
        if not entry.target:
            continue
        folder, name = path.rsplit("/", 1)
        if name == "libkernelmill.so":
            result.add(path, f"INPUT ( {tree_soname(tree, path)} )\n")
        elif name.startswith("libkernelmill.so."):  # the soname: the library itself
            result[path] = result.pop(f"{folder}/{entry.target}")
        else:
            result.add(path, forwarder(entry.target, machine), 0o755)
            result.add(f"{folder}/stubs/{name}", f"INPUT ( ../{entry.target} )\n")
    return result


def tree_soname(tree: Tree, path: str) -> str:
    """The name of libkernelmill.so that programs load: the link's target with one number."""
    full = [p.rsplit("/", 1)[1] for p in tree if p.startswith(f"{path}.") and tree[p].target]
    return full[0]


def renamed_library(tree: Tree, version: str) -> None:
    """CMake's package names the library's file, which has its soname as its name here."""
    major = version.split(".")[0]
    for path, entry in list(tree.items()):
        if path.startswith("lib/cmake/"):
            text = entry.data.decode().replace(f"libkernelmill.so.{version}",
                                               f"libkernelmill.so.{major}")
            tree.add(path, text, entry.mode)


def metadata(version: str) -> str:
    needed = "".join(f"License-File: {name}\n" for name in LICENCES)
    needed += "".join(f"Requires-Dist: {name}\n" for name in NEEDED)
    return METADATA.format(version=version) + needed + "\n" + (HERE / "wheel/README.md").read_text()


def tag_of(tree: Tree, machine: Machine) -> str:
    return "py3-none-manylinux_{}_{}_{}".format(*glibc_of(tree), machine.system)


def wheel_tree(tree: Tree, version: str, machine: Machine) -> Tree:
    native = without_links(tree, machine)
    renamed_library(native, version)
    result = Tree({f"kernelmill/{path}": entry for path, entry in native.items()
                   if path.startswith(("bin/", "lib/", "include/"))})
    for path in sorted(MODULE.rglob("*")):
        if path.suffix == ".py" or path.name == "py.typed":
            name = path.relative_to(MODULE).as_posix()
            result.add(f"kernelmill/{name}", path.read_bytes())
    info = f"kernelmill-{version}.dist-info"
    result.add(f"{info}/METADATA", metadata(version))
    result.add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: kernelmill\n"
                                f"Root-Is-Purelib: false\nTag: {tag_of(tree, machine)}\n")
    result.add(f"{info}/entry_points.txt",
               "[console_scripts]\nkernelmill = kernelmill.__main__:main\n")
    for name in LICENCES:
        result[f"{info}/licenses/{name}"] = tree[f"share/doc/kernelmill/{name}"]
    return result


def record(tree: Tree, path: str) -> str:
    lines = []
    for name in sorted(tree):
        digest = base64.urlsafe_b64encode(hashlib.sha256(tree[name].data).digest())
        lines.append(f"{name},sha256={digest.rstrip(b'=').decode()},{len(tree[name].data)}\n")
    return "".join(lines) + f"{path},,\n"


def make_wheel(tree: Tree, version: str, machine: Machine, output: Path) -> Path:
    files = wheel_tree(tree, version, machine)
    info = f"kernelmill-{version}.dist-info/RECORD"
    files.add(info, record(files, info))
    path = output / f"kernelmill-{version}-{tag_of(tree, machine)}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files, key=lambda name: (".dist-info/" in name, name)):
            header = zipfile.ZipInfo(name, time.gmtime(time_s())[:6])
            header.external_attr = (0o100000 | files[name].mode) << 16
            header.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(header, files[name].data, compresslevel=9)
    return path
