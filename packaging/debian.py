"""Debian packages of the installed tree, for every Debian and Ubuntu with glibc 2.28 or newer.

libkernelmill1       the library and its CPU plugin
libkernelmill-dev    headers, the linker's name, pkg-config and CMake files
kernelmill           the command, its manual and completions
libkernelmill1-cuda  the CUDA driver, runtime and libraries that `kernelmill exec` gives to programs
"""

import gzip
import hashlib
import os
import subprocess
import tempfile
import time
from pathlib import Path

from machine import Machine, glibc_of
from tree import Tree, time_s

HERE = Path(__file__).resolve().parent
NEEDS_GLIBC = "libc6 (>= {glibc})"
MAINTAINER = "Kernelmill developers <kernelmill@users.noreply.github.com>"

PACKAGES = {
    "libkernelmill1": {
        "Section": "libs",
        "Multi-Arch": "same",
        "Depends": NEEDS_GLIBC,
        "Recommends": "libopenblas0-pthread",
        "Description": "runs CUDA-style kernels on any CPU and on NVIDIA GPUs\n"
        " Kernelmill runs kernels written in CUDA C++ or PTX behind one C interface. On\n"
        " a machine without a GPU they become vector code for the CPU.\n"
        " .\n"
        " This package holds the library and its plugin for CPUs.",
    },
    "libkernelmill-dev": {
        "Section": "libdevel",
        "Multi-Arch": "same",
        "Depends": "libkernelmill1 (= {version})",
        "Suggests": "kernelmill",
        "Description": "runs CUDA-style kernels - development files\n"
        " Kernelmill runs kernels written in CUDA C++ or PTX behind one C interface.\n"
        " .\n"
        " This package holds what programs in C, C++, Rust, Go and Zig are built with:\n"
        " headers and the files for pkg-config and CMake.",
    },
    "kernelmill": {
        "Section": "devel",
        "Depends": NEEDS_GLIBC
        + ", libkernelmill1 (= {version}), libkernelmill1-cuda (= {version})",
        "Recommends": "python3-pip, ca-certificates",
        "Description": "command to run, compile and trace CUDA kernels without a GPU\n"
        " Kernelmill runs kernels written in CUDA C++ or PTX on any CPU.\n"
        " .\n"
        " This package holds the command, which runs kernels on files, runs programs\n"
        " that use the CUDA driver without a GPU, and fetches the CUDA C++ compiler.",
    },
    "libkernelmill1-cuda": {
        "Section": "libs",
        # The driver runs kernels by the plugin of its own build, which lies there.
        "Depends": NEEDS_GLIBC + ", libkernelmill1 (= {version})",
        "Description": "CUDA driver and runtime libraries that run on any CPU\n"
        " Kernelmill runs kernels written in CUDA C++ or PTX on any CPU.\n"
        " .\n"
        " This package holds libraries with the interfaces of the CUDA driver, the CUDA\n"
        " runtime, cuBLAS, cuFFT, cuRAND, cuSPARSE, cuSOLVER, cuDNN, NCCL, CUPTI and NVML. They\n"
        " lie in a folder of their own, where programs that are started by \"kernelmill\n"
        " exec\" find them.",
    },
}


def place(tree: Tree, machine: Machine) -> Tree:
    """The tree where Debian has it."""
    placed = Tree({"usr/" + path: entry for path, entry in tree.items()})
    placed = placed.moved("usr/lib/", f"usr/lib/{machine.triplet}/")
    for path, entry in list(placed.items()):
        if path.endswith("/kernelmill.pc"):
            text = entry.data.decode().replace("${pcfiledir}/../..", "${pcfiledir}/../../..")
            placed.add(path, text.replace("${prefix}/lib", f"${{prefix}}/lib/{machine.triplet}"))
        elif "/cmake/kernelmill/" in path:
            placed.add(path, deeper_cmake(entry.data.decode(), machine))
    return placed


def deeper_cmake(text: str, machine: Machine) -> str:
    """CMake's files, one folder further below the prefix."""
    here = "${CMAKE_CURRENT_LIST_DIR}"
    text = text.replace(f'{here}/../../../"', f'{here}/../../../../"')
    text = text.replace("${_IMPORT_PREFIX}/lib/", f"${{_IMPORT_PREFIX}}/lib/{machine.triplet}/")
    one_up = 'get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)\n'
    return text.replace(one_up * 3, one_up * 4)


def split(tree: Tree, version: str, machine: Machine) -> dict:
    """Package -> its files."""
    libraries = f"usr/lib/{machine.triplet}/"
    plugin = f"{libraries}kernelmill-{version}/"
    cuda = tree.below(plugin + "cuda/")
    shared = Tree({p: e for p, e in tree.items()
                   if p.startswith((plugin, libraries + "libkernelmill.so.")) and p not in cuda})
    folders = ("usr/include/", "usr/share/man/man3/", "usr/share/kernelmill/",
               libraries + "cmake/", libraries + "pkgconfig/")
    develop = Tree({p: e for p, e in tree.items()
                    if p.startswith(folders) or p == libraries + "libkernelmill.so"})
    command = Tree({p: e for p, e in tree.items()
                    if p not in shared and p not in develop and p not in cuda
                    and not p.startswith("usr/share/doc/")})
    return {"libkernelmill1": shared, "libkernelmill-dev": develop, "kernelmill": command,
            "libkernelmill1-cuda": cuda}


def compressed(data: bytes) -> bytes:
    return gzip.compress(data, 9, mtime=0)


def finish(package: str, tree: Tree, version: str, third_party: bytes) -> None:
    """Adds what every package of Debian has."""
    date = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(time_s()))
    changes = (f"kernelmill ({version}) unstable; urgency=medium\n\n"
               f"  * See https://github.com/kernelmill/kernelmill/blob/main/CHANGELOG.md\n\n"
               f" -- {MAINTAINER}  {date}\n")
    folder = f"usr/share/doc/{package}/"
    tree.add(folder + "changelog.gz", compressed(changes.encode()))
    tree.add(folder + "copyright", (HERE / "debian/copyright").read_text())
    tree.add(folder + "THIRD_PARTY.gz", compressed(third_party))
    overrides = HERE / f"debian/{package}.lintian-overrides"
    if overrides.exists():
        tree.add(f"usr/share/lintian/overrides/{package}", overrides.read_text())
    for path, entry in list(tree.items()):
        if path.startswith("usr/share/man/") and not path.endswith(".gz"):
            del tree[path]
            tree.add(path + ".gz", compressed(entry.data))
        elif path.endswith(".so") or ".so." in path:
            if not entry.target:
                tree.add(path, entry.data, 0o644)  # Debian's libraries are not programs


def control(package: str, tree: Tree, values: dict) -> str:
    """`values` are what fields name in braces."""
    fields = {"Package": package, "Version": "{version}", "Architecture": "{architecture}",
              "Maintainer": MAINTAINER, "Installed-Size": str(tree.size_bytes() // 1024 + 1),
              "Priority": "optional", "Homepage": "https://github.com/kernelmill/kernelmill",
              **PACKAGES[package]}
    last = ("Description",)
    names = [name for name in fields if name not in last] + list(last)
    return "".join(f"{name}: {fields[name].format(**values)}\n" for name in names)


def control_files(package: str, tree: Tree, values: dict) -> Tree:
    result = Tree()
    result.add("control", control(package, tree, values))
    sums = "".join(f"{hashlib.md5(entry.data).hexdigest()}  {path}\n"
                   for path, entry in sorted(tree.items()) if not entry.target)
    result.add("md5sums", sums)
    if package == "libkernelmill1":
        result.add("triggers", "activate-noawait ldconfig\n")
        result.add("shlibs", f"libkernelmill 1 libkernelmill1 (>= {values['version']})\n")
    return result


def write_tree(tree: Tree, folder: Path) -> None:
    folder.mkdir(parents=True, mode=0o755, exist_ok=True)
    for path, entry in tree.items():
        place_ = folder / path
        place_.parent.mkdir(parents=True, exist_ok=True)
        if entry.target:
            place_.symlink_to(entry.target)
        else:
            place_.write_bytes(entry.data)
            place_.chmod(entry.mode)


def without_runpath(data: bytes) -> bytes:
    """The command finds the library where the loader looks."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "program"
        path.write_bytes(data)
        script = Path(name) / "remove.cmake"
        script.write_text(f"file(RPATH_REMOVE FILE \"{path}\")\n")
        subprocess.run(["cmake", "-P", script], check=True)
        return path.read_bytes()


def make_debian(tree: Tree, version: str, machine: Machine, output: Path) -> list:
    made = []
    placed = place(tree, machine)
    values = {"version": version, "architecture": machine.debian,
              "glibc": ".".join(map(str, glibc_of(tree)))}
    placed.add("usr/bin/kernelmill", without_runpath(placed["usr/bin/kernelmill"].data), 0o755)
    for package, files in split(placed, version, machine).items():
        finish(package, files, version, tree["share/doc/kernelmill/THIRD_PARTY"].data)
        path = output / f"{package}_{version}_{machine.debian}.deb"
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "package"
            write_tree(files, folder)
            write_tree(control_files(package, files, values), folder / "DEBIAN")
            for each in [folder, *folder.rglob("*")]:
                if each.is_dir():
                    each.chmod(0o755)
            environment = {**os.environ, "SOURCE_DATE_EPOCH": str(time_s())}
            subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "-z3", "-b", folder, path],
                           env=environment, check=True, stdout=subprocess.DEVNULL)
        made.append(path)
    return made
