"""Memory of the host: what programs hand over to be copied from and to."""

from __future__ import annotations

import ctypes
import math
import struct
from dataclasses import dataclass, replace
from typing import Any

from ._dtypes import (DType, DTypeLike, dtype_of, dtype_of_format, numpy, numpy_dtype,
                      numpy_if_loaded)


@dataclass
class HostMemory:
    """Contiguous memory of the host. `owner` keeps it alive."""

    address: int
    shape: tuple[int, ...]
    dtype: DType
    is_readonly: bool
    owner: Any

    @property
    def count(self) -> int:
        return math.prod(self.shape)

    @property
    def size_bytes(self) -> int:
        return self.count * self.dtype.size_bytes


def is_numpy(value: Any) -> bool:
    """Tells if this is an array of numpy."""
    package = numpy_if_loaded()
    return package is not None and isinstance(value, package.ndarray)


def is_host_array(value: Any) -> bool:
    """Tells if this is an array in memory of the host: numpy's, or whatever gives a buffer."""
    if is_numpy(value):
        return True
    try:
        return memoryview(value).ndim > 0
    except (TypeError, BufferError):
        return False


def _of_array(array: Any) -> HostMemory:
    if not array.flags.c_contiguous:
        raise ValueError(f"the array of shape {array.shape} is not contiguous: give "
                         "numpy.ascontiguousarray(array), which is a copy")
    return HostMemory(array.ctypes.data, tuple(map(int, array.shape)), dtype_of(array.dtype),
                      not array.flags.writeable, array)


def _of_buffer(value: Any) -> HostMemory:
    view = memoryview(value)
    if not view.c_contiguous:
        raise ValueError(f"the buffer of shape {view.shape} is not contiguous: give a copy")
    dtype = dtype_of_format(view.format)
    shape = tuple(view.shape or ())
    if view.nbytes == 0:
        return HostMemory(0, shape, dtype, view.readonly, view)
    if view.readonly:  # ctypes gives no address of such memory
        copy = ctypes.create_string_buffer(view.tobytes(), view.nbytes)
        return HostMemory(ctypes.addressof(copy), shape, dtype, True, copy)
    start = (ctypes.c_char * view.nbytes).from_buffer(view.cast("B"))
    return HostMemory(ctypes.addressof(start), shape, dtype, False, start)


def existing(value: Any) -> HostMemory:
    """The memory of an array as it lies there, for copies in both directions."""
    if is_numpy(value):
        return _of_array(value)
    try:
        return _of_buffer(value)
    except TypeError as failure:
        if isinstance(value, (bytes, bytearray, memoryview)):
            raise
        raise TypeError(f"a {type(value).__name__} is no array of the host: give an array of "
                        f"numpy, or whatever gives a buffer ({failure})") from None


def _numbers(values: list[Any], dtype: DType | None) -> HostMemory:
    """A list of numbers without numpy: whole numbers are int64, others float64, as in numpy."""
    if dtype is None:
        whole = all(isinstance(each, int) for each in values)
        dtype = dtype_of("int64" if whole and values else "float64")
    if not dtype.code or any(isinstance(each, (list, tuple)) for each in values):
        raise TypeError("lists within lists, and types that Python has no numbers of, need numpy: "
                        "pip install numpy")
    try:
        packed = struct.pack(f"={len(values)}{dtype.code}", *values)
    except (struct.error, OverflowError, TypeError) as failure:
        raise TypeError(f"the list does not fit {dtype.name}: {failure}") from None
    buffer = ctypes.create_string_buffer(packed, max(len(packed), 1))
    return HostMemory(ctypes.addressof(buffer), (len(values),), dtype, True, buffer)


def readable(value: Any, wanted: DTypeLike = None) -> HostMemory:
    """The memory to copy a value from, converted if it has another type than is wanted."""
    dtype = None if wanted is None else dtype_of(wanted)
    if is_numpy(value) or hasattr(value, "__array__"):
        return _converted(value, dtype)
    if isinstance(value, (list, tuple, range, int, float, complex)):
        return _of_list(value, dtype)
    if not is_host_array(value):
        raise TypeError(f"a {type(value).__name__} is no array: give an array of numpy, a buffer "
                        "or a list of numbers; from_dlpack() takes arrays of other libraries")
    memory = existing(value)
    return memory if dtype in (None, memory.dtype) else _converted(value, dtype)


def _of_list(value: Any, dtype: DType | None) -> HostMemory:
    """By numpy where it is installed."""
    try:
        numpy()
    except ImportError:
        if isinstance(value, (list, tuple, range)):
            return _numbers(list(value), dtype)
        memory = _numbers([value], dtype)
        return replace(memory, shape=())
    return _converted(value, dtype)


def _converted(value: Any, dtype: DType | None) -> HostMemory:
    """By numpy, which raises where the value is no array of numbers."""
    package = numpy()
    array = package.asarray(value)
    if dtype is not None and dtype.numpy is None and array.dtype.name != dtype.name:
        array = _cast(array, dtype)
    return _of_array(package.ascontiguousarray(array).reshape(array.shape))


def _cast(array: Any, dtype: DType) -> Any:
    """The same numbers in another type; those that it cannot have are an error."""
    target = numpy_dtype(dtype)
    if (target.kind in "iub" and array.dtype.kind not in "iub"
            or array.dtype.kind == "c" and target.kind != "c"):
        raise TypeError(f"numbers of {array.dtype} are given for {dtype.name}: convert them by "
                        "astype(), if what is lost may be lost")
    result = array.astype(target)
    if target.kind in "iub" and not (result == array).all():
        raise OverflowError(f"numbers of {array.dtype} do not all fit {dtype.name}")
    return result
