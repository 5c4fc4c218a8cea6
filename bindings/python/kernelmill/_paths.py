"""Where the parts of the wheel lie, for build scripts and for ctypes."""

from pathlib import Path

from .generated import abi

_HERE = Path(__file__).resolve().parent


def library_dir() -> str:
    """The folder of libkernelmill.so: the value for KM_LIBRARY_DIR."""
    return str(_HERE / "lib")


def library_path() -> str:
    """The library itself, for ctypes.CDLL."""
    return str(_HERE / "lib" / ("libkernelmill.so." + abi.VERSION.split(".", maxsplit=1)[0]))


def include_dir() -> str:
    """The folder for the compiler's -I: programs include <kernelmill/c_api.h>."""
    return str(_HERE / "include")


def pkgconfig_dir() -> str:
    """The folder for PKG_CONFIG_PATH."""
    return str(_HERE / "lib" / "pkgconfig")


def cmake_dir() -> str:
    """The folder for -Dkernelmill_DIR of a CMake project."""
    return str(_HERE / "lib" / "cmake" / "kernelmill")


def cuda_library_dir() -> str:
    """The folder of libcuda.so.1, which `kernelmill exec` puts before a program's own."""
    return str(_HERE / "lib" / ("kernelmill-" + abi.VERSION) / "cuda")


def nvrtc_dir() -> str:
    """The folder of NVRTC, from the wheel among this one's dependencies: a value for KM_NVRTC."""
    return str(_nvidia("lib", "libnvrtc.so.13"))


def cuda_include_dir() -> str:
    """The folder of cuda.h, from the wheel among this one's dependencies."""
    return str(_nvidia("include", "cuda.h"))


def _nvidia(folder: str, file: str) -> Path:
    """A folder of NVIDIA's wheels, which pip puts beside this one."""
    place = _HERE.parent / "nvidia" / "cu13" / folder
    if not (place / file).exists():
        raise FileNotFoundError(f"{place / file} is missing: install kernelmill with its "
                                "dependencies, without pip's option --no-deps")
    return place


def command_path() -> str:
    """The program that `kernelmill` starts."""
    return str(_HERE / "bin" / "kernelmill")
