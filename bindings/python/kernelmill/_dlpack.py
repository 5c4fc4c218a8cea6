"""DLPack: arrays given to other libraries, and theirs taken, without a copy.

Capsules and their functions live as long as the interpreter: a capsule may be the last thing that
goes when it ends.
"""

from __future__ import annotations

import ctypes as c
import math
from dataclasses import dataclass
from typing import Any

from ._dtypes import DType, dtype_of_dlpack

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13
PLAIN, VERSIONED = b"dltensor", b"dltensor_versioned"
USED_PLAIN, USED_VERSIONED = b"used_dltensor", b"used_dltensor_versioned"
READONLY = 1


class _Device(c.Structure):
    _fields_ = [("kind", c.c_int32), ("ordinal", c.c_int32)]


class _Type(c.Structure):
    _fields_ = [("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16)]


class _Tensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("device", _Device), ("ndim", c.c_int32), ("dtype", _Type),
                ("shape", c.POINTER(c.c_int64)), ("strides", c.POINTER(c.c_int64)),
                ("byte_offset", c.c_uint64)]


class _Managed(c.Structure):
    _fields_ = [("tensor", _Tensor), ("manager", c.c_void_p), ("deleter", c.c_void_p)]


class _ManagedVersioned(c.Structure):
    _fields_ = [("major", c.c_uint32), ("minor", c.c_uint32), ("manager", c.c_void_p),
                ("deleter", c.c_void_p), ("flags", c.c_uint64), ("tensor", _Tensor)]


_DELETER = c.CFUNCTYPE(None, c.c_void_p)
_DESTRUCTOR = c.CFUNCTYPE(None, c.c_void_p)  # of a capsule, which is counted no more by then
_new = c.pythonapi.PyCapsule_New
_new.argtypes, _new.restype = (c.c_void_p, c.c_char_p, _DESTRUCTOR), c.py_object
_is_valid = c.pythonapi.PyCapsule_IsValid
_is_valid.argtypes, _is_valid.restype = (c.c_void_p, c.c_char_p), c.c_int
_pointer = c.pythonapi.PyCapsule_GetPointer
_pointer.argtypes, _pointer.restype = (c.c_void_p, c.c_char_p), c.c_void_p
_rename = c.pythonapi.PyCapsule_SetName
_rename.argtypes, _rename.restype = (c.c_void_p, c.c_char_p), c.c_int
_keep = c.pythonapi.Py_IncRef
_keep.argtypes, _keep.restype = (c.py_object,), None

# What others hold: the address of the managed tensor -> everything behind it.
_given: dict[int, tuple[Any, ...]] = {}


def _make_deleter(given: dict[int, tuple[Any, ...]]) -> Any:
    def delete(address: int) -> None:
        entry = given.pop(address, None)
        if entry is not None:
            entry[0].close()

    return _DELETER(delete)


def _make_destructor(delete: Any, names: tuple[bytes, bytes], is_valid: Any, pointer: Any) -> Any:
    def destroy(capsule: int) -> None:
        for name in names:  # a capsule that was used has another name
            if is_valid(capsule, name):
                delete(pointer(capsule, name))

    return _DESTRUCTOR(destroy)


_delete = _make_deleter(_given)
_destroy = _make_destructor(_delete, (PLAIN, VERSIONED), _is_valid, _pointer)
for _each in (_delete, _destroy, PLAIN, VERSIONED, USED_PLAIN, USED_VERSIONED, _given):
    _keep(_each)


def give(owner: Any, address: int, shape: tuple[int, ...], dtype: DType, device: tuple[int, int],
         is_versioned: bool) -> Any:
    """A capsule over memory. `owner` is closed when the taker lets go of it."""
    if dtype.dlpack < 0:
        raise BufferError(f"DLPack has no type for {dtype.name}")
    managed: Any = _ManagedVersioned(major=1, minor=0) if is_versioned else _Managed()
    extents = (c.c_int64 * max(len(shape), 1))(*shape)
    steps = [math.prod(shape[axis + 1:]) for axis in range(len(shape))]
    strides = (c.c_int64 * max(len(shape), 1))(*steps)
    tensor = managed.tensor
    tensor.data, tensor.device = address or None, _Device(*device)
    tensor.ndim, tensor.dtype = len(shape), _Type(dtype.dlpack, 8 * dtype.size_bytes, 1)
    tensor.shape = c.cast(extents, c.POINTER(c.c_int64))
    tensor.strides = c.cast(strides, c.POINTER(c.c_int64))
    managed.deleter = c.cast(_delete, c.c_void_p)
    place = c.addressof(managed)
    _given[place] = (owner, managed, extents, strides)
    return _new(place, VERSIONED if is_versioned else PLAIN, _destroy)


@dataclass
class Taken:
    """Memory of another library, which it keeps until release()."""

    address: int
    shape: tuple[int, ...]
    dtype: DType
    device: tuple[int, int]
    is_readonly: bool
    managed: Any

    def release(self) -> None:
        managed, self.managed = self.managed, None
        if managed is not None and managed.deleter:
            _DELETER(managed.deleter)(c.addressof(managed))

    def __del__(self) -> None:
        self.release()


def take(capsule: Any) -> Taken:
    """What a capsule holds; the capsule is used up by it."""
    place = id(capsule)  # of CPython's object itself
    for name, used, kind in ((VERSIONED, USED_VERSIONED, _ManagedVersioned),
                             (PLAIN, USED_PLAIN, _Managed)):
        if type(capsule).__name__ != "PyCapsule" or not _is_valid(place, name):
            continue
        managed: Any = kind.from_address(_pointer(place, name))
        if kind is _ManagedVersioned and managed.major != 1:
            raise BufferError(f"the array is given in version {managed.major} of DLPack; this "
                              "module knows version 1")
        tensor = managed.tensor
        shape = tuple(tensor.shape[axis] for axis in range(tensor.ndim))
        dtype = dtype_of_dlpack(tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes)
        check_dense(shape, tensor)
        address = (tensor.data or 0) + tensor.byte_offset
        flags = managed.flags if kind is _ManagedVersioned else 0
        _rename(place, used)
        return Taken(address, shape, dtype, (tensor.device.kind, tensor.device.ordinal),
                     bool(flags & READONLY), managed)
    raise TypeError("__dlpack__() gave no capsule of DLPack that is still unused")


def check_dense(shape: tuple[int, ...], tensor: Any) -> None:
    """Kernels get an address alone, so that rows have to lie one after the other."""
    if not tensor.strides or 0 in shape:
        return
    for axis, extent in enumerate(shape):
        if extent != 1 and tensor.strides[axis] != math.prod(shape[axis + 1:]):
            raise ValueError(f"the array of shape {shape} is not contiguous: make it so in the "
                             "library that it comes from")
