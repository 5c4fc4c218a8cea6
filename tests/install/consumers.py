#!/usr/bin/env python3
"""Installs the build, moves the tree, and uses it as CMake, pkg-config and shell users do."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


CUDNN_PARTS = ("", "_adv", "_cnn", "_engines_precompiled", "_engines_runtime_compiled",
               "_engines_tensor_ir", "_ext", "_graph", "_heuristic", "_ops")  # fmt: skip


def run(*command, **environment) -> str:
    """The program's output; ends the test where it fails."""
    clean = {k: v for k, v in os.environ.items() if k not in ("DESTDIR", "LD_LIBRARY_PATH")}
    done = subprocess.run(command, capture_output=True, text=True, env={**clean, **environment})
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def expect(what: str, expected, found):
    if expected != found:
        raise SystemExit(f"{what}: expected {expected!r}, found {found!r}")


def headers() -> set:
    """The public headers, which are installed as they lie in include/."""
    source = HERE.parents[1] / "include"
    return {f"include/{path.relative_to(source).as_posix()}" for path in source.rglob("*.h*")}


def manual() -> set:
    """A page for each header of the C ABI, and one for each function that sends to it."""
    lines = (HERE.parents[1] / "man/generated/names.txt").read_text().splitlines()[1:]
    return {f"share/man/man3/{name}.3" for line in lines for name in line.split()}


def expected_files(version: str, build: Path) -> set:
    # A build without Vulkan's headers has one plugin.
    plugins = [f"lib/kernelmill-{version}/libkernelmill-{name}.so" for name in ("vulkan", "opengl")]
    major = version.split(".")[0]
    package = "lib/cmake/kernelmill/kernelmill-"
    return {
        "bin/kernelmill",
        *headers(),
        "lib/libkernelmill.so",
        f"lib/libkernelmill.so.{major}",
        f"lib/libkernelmill.so.{version}",
        f"lib/kernelmill-{version}/libkernelmill-cpu.so",
        *(plugin for plugin in plugins if (build / plugin).exists()),
        f"lib/kernelmill-{version}/cuda/libcuda.so",
        f"lib/kernelmill-{version}/cuda/libcuda.so.1",
        *(f"lib/kernelmill-{version}/cuda/{major}/{name}"
          for major in (12, 13)
          for name in ("libcudart.so", f"libcudart.so.{major}", "libcudart_static.a",
                       "libcublas.so", f"libcublas.so.{major}",
                       "libcublasLt.so", f"libcublasLt.so.{major}",
                       "libcufft.so", f"libcufft.so.{major - 1}",
                       "libcufftw.so", f"libcufftw.so.{major - 1}",
                       "libcusolver.so", f"libcusolver.so.{major - 1}",
                       "libcusolverMg.so", f"libcusolverMg.so.{major - 1}",
                       "libnvrtc.so", f"libnvrtc.so.{major}",
                       "libnvJitLink.so", f"libnvJitLink.so.{major}",
                       "libcupti.so", f"libcupti.so.{major}",
                       "libnvptxcompiler.so", f"libnvptxcompiler.so.{major}")),
        *(f"lib/kernelmill-{version}/cuda/bin/{name}"
          for name in ("ptxas", "nvlink", "fatbinary", "cuobjdump", "compute-sanitizer",
                       "nvidia-smi")),
        *(f"lib/kernelmill-{version}/cuda/{name}"
          for name in (*(f"libcudnn{part}.so{end}" for end in ("", ".9") for part in CUDNN_PARTS),
                       "libcurand.so", "libcurand.so.10", "libcusparse.so",
                       "libcusparse.so.12", "libnccl.so", "libnccl.so.2", "libnvidia-ml.so",
                       "libnvidia-ml.so.1", "libnvToolsExt.so", "libnvToolsExt.so.1",
                       "libkernelmill-audit.so", "driver/version")),
        "lib/pkgconfig/kernelmill.pc",
        f"{package}add-kernels.cmake",
        f"{package}config.cmake",
        f"{package}config-version.cmake",
        f"{package}targets.cmake",
        "share/doc/kernelmill/LICENSE",
        *(f"share/kernelmill/examples/quickstart/{name}"
          for name in ("quickstart.c", "CMakeLists.txt", "README.md")),
        "share/man/man1/kernelmill.1",
        *manual(),
        "share/bash-completion/completions/kernelmill",
        "share/zsh/site-functions/_kernelmill",
        "share/fish/vendor_completions.d/kernelmill.fish",
    }


def installed_files(prefix: Path) -> set:
    """Without the file whose name carries the configuration of the build."""
    found = {p.relative_to(prefix).as_posix() for p in prefix.rglob("*") if not p.is_dir()}
    return {name for name in found if "kernelmill-targets-" not in name}


def check_manual(prefix: Path):
    """The page of a header is not replaced by that of a function of the same name."""
    for page in (HERE.parents[1] / "man/generated").glob("*.3"):
        installed = (prefix / "share/man/man3" / page.name).read_text()
        expect(f"{page.name} as installed", page.read_text(), installed)


def check_cmake(options, prefix: Path, folder: Path):
    source, build = folder / "consumer_source", folder / "cmake"
    shutil.copytree(HERE / "consumer", source)
    run(options.cmake, "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_C_COMPILER={options.cc}",
        f"-DWITH_KERNELS={'ON' if os.environ.get('KM_NVRTC') else 'OFF'}")
    run(options.cmake, "--build", build)
    expect("the CMake consumer", options.version, run(build / "consumer").strip())
    if os.environ.get("KM_NVRTC"):
        check_wrapped(options, source, build)


def check_wrapped(options, source: Path, build: Path):
    """Kernels wrapped by kernelmill_add_kernels, anew when an included file changes."""
    expect("what the wrapped kernel computes", "3 5 7", run(build / "typed").strip())
    (source / "factor.h").write_text("#pragma once\n#define FACTOR 3\n")
    run(options.cmake, "--build", build)
    expect("what it computes after a change", "4 7 10", run(build / "typed").strip())


def check_pkg_config(options, prefix: Path, folder: Path):
    library_dir = prefix / "lib"
    search = {"PKG_CONFIG_PATH": str(library_dir / "pkgconfig")}
    found = run(options.pkg_config, "--modversion", "kernelmill", **search).strip()
    expect("pkg-config's version", options.version, found)
    flags = run(options.pkg_config, "--cflags", "--libs", "kernelmill", **search).split()
    program = folder / "consumer"
    run(options.cc, HERE / "consumer" / "consumer.c", "-o", program, *flags)
    found = run(program, LD_LIBRARY_PATH=str(library_dir)).strip()
    expect("the pkg-config consumer", options.version, found)


def blocks(page: Path, language: str) -> list:
    """The code of a page in one language."""
    text = page.read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def check_quick_start(prefix: Path, folder: Path):
    """The program of README is the installed one, and is built and run by the lines beside it."""
    readme, example = HERE.parents[1] / "README.md", prefix / "share/kernelmill/examples/quickstart"
    program = blocks(readme, "c")[0]
    expect("README's program as installed", program, (example / "quickstart.c").read_text("utf-8"))
    for way, page in (("README", readme), ("the example's page", example / "README.md")):
        for number, lines in enumerate(blocks(page, "sh")[:2]):
            if "quickstart" not in lines:
                continue
            place = folder / f"{page.parent.name}{number}"
            place.mkdir()
            for name in ("quickstart.c", "CMakeLists.txt"):
                shutil.copy(example / name, place)
            said = run("sh", "-ec", f"cd '{place}'\n{lines.replace('FOLDER', str(prefix))}",
                       PKG_CONFIG_PATH=str(prefix / "lib/pkgconfig"))
            expect(f"the end of what is said by {way}", "y[999] = 2", said.strip()[-10:])


def check_command(options, prefix: Path):
    said = run(prefix / "bin" / "kernelmill", "--version")
    expect("the version in kernelmill --version", True, options.version in said)
    run(prefix / "bin" / "kernelmill", "info")
    program = "import ctypes; assert ctypes.CDLL('libcuda.so').cuInit(0) == 0; print('found')"
    said = run(prefix / "bin" / "kernelmill", "exec", "--", sys.executable, "-c", program)
    expect("what a program on the CUDA driver library says", "found\n", said)


def check_uninstall(options, prefix: Path):
    """Files of others stay, also beside ours."""
    other = prefix / "share/doc/kernelmill/notes"
    other.write_text("")
    script = HERE.parents[1] / "scripts/uninstall.sh"
    run(script, options.build)
    expect("what is left", {"share/doc/kernelmill/notes"}, installed_files(prefix))
    other.unlink()
    run(script, options.build)  # finds nothing any more, and that is no error
    left = [str(path) for path in prefix.rglob("*kernelmill*")]
    expect("folders that are left", [], left)


def main() -> int:
    parser = argparse.ArgumentParser()
    for name in ("--build", "--version", "--cmake", "--cc", "--pkg-config"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve()
        run(options.cmake, "--install", options.build, "--prefix", folder / "first")
        prefix = folder / "moved"
        (folder / "first").rename(prefix)
        expect("installed files", sorted(expected_files(options.version, Path(options.build))),
               sorted(installed_files(prefix)))
        check_manual(prefix)
        check_cmake(options, prefix, folder)
        check_pkg_config(options, prefix, folder)
        if os.environ.get("KM_NVRTC"):
            check_quick_start(prefix, folder)
        check_command(options, prefix)
        prefix.rename(folder / "first")
        check_uninstall(options, folder / "first")
    return 0


if __name__ == "__main__":
    sys.exit(main())
