"""Kernelmill: runs CUDA kernels, written in CUDA C++ or PTX, on any CPU and on NVIDIA GPUs.

    import kernelmill as km

    with km.Context("auto") as ctx:
        saxpy = ctx.module("saxpy.cu").function("saxpy")
        saxpy.for_elements(1000)(x, y, 2.0, 1000)  # arrays of numpy, or of ctx.array()

`kernelmill.raw` is the C ABI, and `kernelmill.abi` has its constants and structures. The functions
that end in _dir and _path say where the library and its headers lie, for build scripts.
"""

from ._arguments import Address
from ._array import Array
from ._context import Context, Device, devices
from ._errors import CompilationError, Error, KernelFault, OutOfMemoryError
from ._function import Function, Launch
from ._library import raw
from ._module import Module
from ._parameters import Parameter
from ._paths import (cmake_dir, command_path, cuda_include_dir, cuda_library_dir, include_dir,
                     library_dir, library_path, nvrtc_dir, pkgconfig_dir)
from ._stream import Event, Stream
from .generated import abi

__version__ = abi.VERSION
__all__ = ["Address", "Array", "CompilationError", "Context", "Device", "Error", "Event",
           "Function", "KernelFault", "Launch", "Module", "OutOfMemoryError", "Parameter", "Stream",
           "abi", "cmake_dir", "command_path", "cuda_include_dir", "cuda_library_dir", "devices",
           "include_dir", "library_dir", "library_path", "nvrtc_dir", "pkgconfig_dir", "raw"]
