"""The variables by which builds and programs find the wheel, one `NAME value` a line."""

import os

import kernelmill

VARIABLES = {
    "KM_LIBRARY_DIR": kernelmill.library_dir(),  # Rust, Go, Zig
    "KM_NVRTC": kernelmill.nvrtc_dir(),  # which `kernelmill exec` puts on a program's path
    "PKG_CONFIG_PATH": kernelmill.pkgconfig_dir(),
    "kernelmill_DIR": kernelmill.cmake_dir(),  # CMake's find_package(kernelmill)
    "KERNELMILL_CUDA_INCLUDE": kernelmill.cuda_include_dir(),  # cuda.h
    "KERNELMILL_CUDA_LIB": kernelmill.cuda_library_dir() + "/stubs",  # libcuda.so, to link with
}

for name, value in VARIABLES.items():
    before = os.environ.get(name) if name == "PKG_CONFIG_PATH" else None
    print(name, f"{value}:{before}" if before else value)
