"""Modules: kernels from files and texts."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ._array import Array, Shape, shape_of
from ._dtypes import DTypeLike, dtype_of
from ._errors import CompilationError, Error
from ._function import Function
from ._library import check, encoded, failure, filled, handle, number, raw, read_text
from ._objects import Object
from .generated import abi

if TYPE_CHECKING:
    from ._context import Context


def _texts(given: Iterable[str], what: str) -> list[bytes]:
    if isinstance(given, (str, bytes)):
        raise TypeError(f"{what} is one text; give a list of texts")
    return [encoded(each, f"one of {what}") for each in given]


def _architecture(context: Context, options: list[bytes]) -> list[bytes]:
    """The option that compiles for the context's device, unless the program has one."""
    if any(b"-arch" in each or b"gpu-architecture" in each for each in options):
        return []
    major, minor = context.device.compute_capability
    return [b"--gpu-architecture=compute_%d%d" % (major, minor)] if major else []


def _compile(context: Context, source: bytes, name: bytes | None, options: list[bytes],
             expressions: list[bytes]) -> int:
    """The module of a source that is compiled with options."""
    program = handle(raw.km_program_create, source, len(source), name)
    try:
        for option in _architecture(context, options) + options:
            check(raw.km_program_add_option(program, option))
        for expression in expressions:
            check(raw.km_program_add_name_expression(program, expression))
        _compiled(raw.km_program_compile(program), program)
        return handle(raw.km_module_load_program, context.handle, program)
    finally:
        raw.km_program_destroy(program)


def _compiled(status: int, program: int) -> None:
    if status == abi.KM_SUCCESS:
        return
    raised = failure(status)
    if isinstance(raised, CompilationError):
        raised.log = read_text(raw.km_program_log, program)
    raise raised


def load(context: Context, path: Any, source: Any, ptx: Any, name: str | None,
         options: Iterable[str], expressions: Iterable[str]) -> int:
    """The handle of the module that a program describes."""
    given = [what for what, value in (("path", path), ("source", source), ("ptx", ptx))
             if value is not None]
    if len(given) != 1:
        raise TypeError(f"{' and '.join(given) or 'nothing'} is given; give one of a path, source= "
                        "and ptx=")
    flags, wanted = _texts(options, "options"), _texts(expressions, "expressions")
    label = None if name is None else encoded(name, "name")
    if ptx is not None:
        text = ptx if isinstance(ptx, bytes) else encoded(ptx, "ptx")
        _refuse_options(flags + wanted, "PTX")
        return handle(raw.km_module_load_ptx, context.handle, text, len(text), label)
    if source is not None:
        return _compile(context, encoded(source, "source"), label, flags, wanted)
    file = os.fsencode(path)
    if b"\0" in file:
        raise ValueError("path holds a zero")
    if not flags + wanted:
        return handle(raw.km_module_load_file, context.handle, file)
    if not file.endswith(b".cu"):
        _refuse_options(flags + wanted, f"{os.fsdecode(file)}, which is not *.cu,")
    with open(file, "rb") as opened:
        return _compile(context, opened.read(), label or file, flags, wanted)


def _refuse_options(given: list[bytes], what: str) -> None:
    if given:
        raise ValueError(f"{what} takes no options and expressions: they are for CUDA C++")


class Module(Object):
    """Kernels and variables. Context.module() makes one."""

    _kind = "module"

    def __init__(self, context: Context, handle: int) -> None:
        self._own(handle, context)

    @property
    def context(self) -> Context:
        """The context that the module is loaded in."""
        assert self._context is not None
        return self._context

    @property
    def names(self) -> list[str]:
        """The names of the kernels, in the order of the text."""
        own = self.handle
        count = number(ctypes.c_uint32, raw.km_module_function_count, own)
        return [read_text(raw.km_module_function_name, own, index) for index in range(count)]

    def function(self, name: str) -> Function:
        """A kernel by its name: that of extern "C", the mangled one, or an expression of the
        module."""
        found = handle(raw.km_module_function, self.handle, encoded(name, "name"))
        return Function(self.context, found, name)

    def __getitem__(self, name: str) -> Function:
        return self.function(name)

    def variable(self, name: str, dtype: DTypeLike = "uint8", shape: Shape | int | None = None
                 ) -> Array:
        """A __device__ or __constant__ variable, as elements of this type; all of it unless a shape
        is given."""
        kind = dtype_of(dtype)
        slice_handle = handle(raw.km_module_global, self.handle, encoded(name, "name"))
        info = filled(abi.km_slice_info, raw.km_slice_info_get, slice_handle)
        size = info.size_bytes
        extents = shape_of(size // kind.size_bytes if shape is None else shape)
        array = Array(self.context, slice_handle, extents, kind, info.element_size_bytes)
        if array.nbytes > size or shape is None and array.nbytes != size:
            array.close()
            raise Error(abi.KM_ERROR_OUT_OF_BOUNDS, f"{array.nbytes} bytes are asked for of "
                        f"variable '{name}', which has {size}: give its type and shape")
        return array
