"""Arrays in a device's memory."""

from __future__ import annotations

import ctypes
import math
import struct
from typing import TYPE_CHECKING, Any

from . import _dlpack
from ._dtypes import DType, DTypeLike, dtype_of, numpy_dtype
from ._errors import Error
from ._host import existing, readable
from ._library import check, counted, handle, number, raw, waited
from ._objects import Object
from .generated import abi

if TYPE_CHECKING:
    from ._context import Context
    from ._stream import Stream

Shape = tuple[int, ...]


def shape_of(given: Any) -> Shape:
    """A shape: a number, or a sequence of numbers."""
    extents = given if isinstance(given, (tuple, list)) else (given,)
    shape = tuple(counted(extent, "an extent of the shape", 2**63 - 1) for extent in extents)
    if math.prod(shape) > 2**63 - 1:
        raise ValueError(f"shape is {shape}, which is more elements than 64 bits can count")
    return shape


class Array(Object):
    """Memory of a device as rows of elements, one after the other (C order). Context.array(),
    zeros(), empty() and from_dlpack() make one. Work of different streams on an array is ordered,
    unless the context was made with ordered=False."""

    _kind = "slice"
    _borrowed: Any = None  # what owns memory that is not ours
    _address = 0  # of memory of another library on a GPU, which has no slice

    def __init__(self, context: Context, handle: int, shape: Shape, dtype: DType,
                 unit_bytes: int = 0) -> None:
        """`unit_bytes`: the size by which the slice counts, if it is not that of the elements."""
        self._shape, self._dtype = shape, dtype
        self._unit_bytes = unit_bytes or dtype.size_bytes
        self._own(handle, context)
        if dtype.element != abi.KM_ELEMENT_TYPE_UNKNOWN:
            check(raw.km_slice_set_element_type(handle, dtype.element, 1, None))

    @classmethod
    def _create(cls, context: Context, shape: Shape, dtype: DType, flags: int) -> Array:
        slice_handle = handle(raw.km_slice_create, context.handle, math.prod(shape),
                              dtype.size_bytes, flags)
        return cls(context, slice_handle, shape, dtype)

    @classmethod
    def _foreign(cls, context: Context, owner: Any, address: int, shape: Shape,
                 dtype: DType) -> Array:
        """Memory of another library on the same GPU. Kernels take it as an address."""
        array = cls._create(context, (0,), dtype, abi.KM_SLICE_DEFAULT)
        array._shape, array._address, array._borrowed = shape, address, owner
        return array

    # --- What it is ---

    @property
    def context(self) -> Context:
        """The context whose memory this is."""
        assert self._context is not None
        return self._context

    @property
    def shape(self) -> Shape:
        """The number of elements along each axis."""
        return self._shape

    @property
    def dtype(self) -> Any:
        """The type of the elements: numpy's name of it, or numpy's dtype of a structure."""
        return self._dtype.name if self._dtype.numpy is None else self._dtype.numpy

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self._shape)

    @property
    def itemsize(self) -> int:
        """The bytes of an element."""
        return self._dtype.size_bytes

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self.size * self._dtype.size_bytes

    @property
    def address(self) -> int:
        """The address of the first element on the device; 0: there are no elements."""
        own = self.handle
        return self._address or number(ctypes.c_uint64, raw.km_slice_address, own)

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("an array without axes has no length")
        return self._shape[0]

    def __repr__(self) -> str:
        where = "closed" if self.closed else f"on {self.context.device.uri}"
        return f"<kernelmill.Array {self.dtype} {self._shape} {where}>"

    # --- Copies ---

    def numpy(self, stream: Stream | None = None) -> Any:
        """A copy as an array of numpy, once the work queued before is done."""
        from ._dtypes import numpy as package

        result = package().empty(self._shape, numpy_dtype(self._dtype))
        self.copy_to(result, stream)
        return result

    def tobytes(self, stream: Stream | None = None) -> bytes:
        """A copy of all bytes, once the work queued before is done."""
        buffer = bytearray(self.nbytes)
        if buffer:
            self._download((ctypes.c_char * len(buffer)).from_buffer(buffer), stream)
        return bytes(buffer)

    def tolist(self, stream: Stream | None = None) -> list[Any]:
        """A copy as a list of Python's numbers, of one row after the other; needs no numpy."""
        if not self._dtype.code:
            raise TypeError(f"Python has no numbers of {self._dtype.name}: use numpy()")
        return list(struct.unpack(f"={self.size}{self._dtype.code}", self.tobytes(stream)))

    def copy_to(self, destination: Any, stream: Stream | None = None) -> None:
        """Copies into an array of the host of the same type and size."""
        memory = existing(destination)
        if memory.is_readonly:
            raise ValueError("the destination is read-only")
        self._check_same(memory.count, memory.dtype, "destination")
        if memory.size_bytes:
            self._download(memory.address, stream)

    def copy_from(self, source: Any, stream: Stream | None = None) -> None:
        """Copies from an array of the same type and size: of the host, or of the same context.
        Numbers of a list take the array's type."""
        if isinstance(source, Array):
            self._check_same(source.size, source._dtype, "source")
            check(raw.km_slice_copy(self.context._stream_handle(stream), self._own_memory(), 0,
                                    source._own_memory(), 0, self.nbytes))
            return
        memory = readable(source, self._dtype if isinstance(source, (list, tuple, range)) else None)
        self._check_same(memory.count, memory.dtype, "source")
        self._upload(memory.address, stream)

    def fill(self, value: Any, stream: Stream | None = None) -> None:
        """Gives all elements one value."""
        memory = readable([value], self._dtype)
        pattern = ctypes.string_at(memory.address, memory.size_bytes)
        queue = self.context._stream_handle(stream)
        for width, call, count in ((1, raw.km_slice_fill_u8, self.nbytes),
                                   (2, raw.km_slice_fill_u16, self.nbytes // 2),
                                   (4, raw.km_slice_fill_u32, self.nbytes // 4)):
            if pattern == pattern[:width] * (len(pattern) // width):
                word = int.from_bytes(pattern[:width], "little")
                check(call(queue, self._own_memory(), 0, word, count))
                return
        whole = (ctypes.c_char * self.nbytes).from_buffer(bytearray(pattern * self.size))
        check(raw.km_slice_upload(queue, self._own_memory(), 0, whole, self.nbytes))

    def _check_same(self, count: int, dtype: DType, what: str) -> None:
        if count != self.size or dtype != self._dtype:
            raise ValueError(f"the {what} has {count} elements of {dtype.name}, and this array "
                             f"{self.size} of {self._dtype.name}: give as many of the same type")

    def _upload(self, source: Any, stream: Stream | None) -> None:
        check(raw.km_slice_upload(self.context._stream_handle(stream), self._own_memory(), 0,
                                  source, self.nbytes))

    def _download(self, destination: Any, stream: Stream | None) -> None:
        own, queue = self._own_memory(), self.context._stream_handle(stream)
        self.context._waited(waited(raw.km_stream_synchronize_timeout, queue))
        self.context._waited(raw.km_slice_download(queue, own, 0, destination, self.nbytes))

    def _own_memory(self) -> int:
        """The slice, of memory that this library may copy."""
        if self._address:
            raise Error(abi.KM_ERROR_NOT_SUPPORTED, "this memory belongs to another library: "
                        "kernels can use it; copy it in the library that it comes from")
        return self.handle

    # --- Parts ---

    def __getitem__(self, key: Any) -> Array:
        """A part of consecutive rows, a[10:20], which shares the memory."""
        if not isinstance(key, slice):
            raise TypeError("only slices of rows, such as a[10:20], are taken: copy with numpy() "
                            "to look at elements")
        first, last, step = key.indices(len(self))
        if step != 1:
            raise ValueError(f"the step is {step}; rows of a part lie one after the other")
        count = max(last - first, 0)
        row = math.prod(self._shape[1:])
        return self._view(first * row, (count, *self._shape[1:]))

    def reshape(self, *shape: Any) -> Array:
        """The same elements in another shape, which shares the memory."""
        wanted = shape_of(shape[0] if len(shape) == 1 else shape)
        if math.prod(wanted) != self.size:
            raise ValueError(f"{self.size} elements do not fit the shape {wanted}")
        return self._view(0, wanted)

    def _view(self, first: int, shape: Shape) -> Array:
        if self._address:
            address = self._address + first * self.itemsize
            return Array._foreign(self.context, self._borrowed, address, shape, self._dtype)
        unit, size = self._unit_bytes, self.itemsize
        part = handle(raw.km_slice_view, self.handle, first * size // unit,
                      math.prod(shape) * size // unit)
        view = Array(self.context, part, shape, self._dtype, unit)
        view._borrowed = self._borrowed
        return view

    # --- Other libraries ---

    def __array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> Any:
        """What numpy.asarray() makes of it: a copy, since numpy knows memory of the host only."""
        if copy is False:
            raise ValueError("numpy gets a copy; numpy.from_dlpack() shares memory on CPU devices")
        result = self.numpy()
        return result if dtype is None else result.astype(dtype, copy=False)

    def __dlpack_device__(self) -> tuple[int, int]:
        """The device as DLPack counts it: (1, 0) is the host, whose memory CPU devices have."""
        self.handle  # closed ones have none
        return self.context._dlpack_device

    def __dlpack__(self, *, stream: Any = None, max_version: tuple[int, int] | None = None,
                   dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any:
        """The memory for another library, without a copy. The work queued so far is done when this
        returns, whatever stream the other library uses."""
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"the array lies on DLPack's device {self.__dlpack_device__()}, and "
                              f"{tuple(dl_device)} is asked for: copy it by numpy()")
        if copy:
            raise BufferError("the memory is shared: copy it by numpy(), or in the other library")
        self.context.synchronize()
        owner = self._view(0, self._shape)
        self.context._let_go(owner)  # it outlives the context's close()
        is_versioned = max_version is not None and max_version[0] >= 1
        device = self.__dlpack_device__()
        return _dlpack.give(owner, self.address, self._shape, self._dtype, device, is_versioned)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The memory for libraries of CUDA arrays (CuPy, numba); on CUDA devices only."""
        if self.context._dlpack_device[0] != _dlpack.CUDA:
            raise AttributeError("memory of a CPU device has no __cuda_array_interface__: use "
                                 "__dlpack__, which says where it lies")
        self.context.synchronize()
        return {"shape": self._shape, "typestr": self._dtype.typestr, "version": 3,
                "data": (self.address, False), "strides": None, "stream": None}

    def close(self) -> None:
        """Lets go of the memory, which is freed when no part of it and no work uses it any more."""
        borrowed, self._borrowed = self._borrowed, None
        super().close()
        if borrowed is not None and self._context is not None:
            self._context._release(borrowed)
