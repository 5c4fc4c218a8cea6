"""The arguments of a launch: memory and values as the library takes them."""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._array import Array
from ._dlpack import CPU
from ._errors import Error
from ._host import HostMemory, existing, is_host_array, is_numpy
from ._library import check, raw, waited
from ._parameters import Parameter
from ._values import Mismatch, packer, said
from .generated import abi

if TYPE_CHECKING:
    from ._context import Context

OPERAND = struct.Struct("=IiQQQ")  # km_launch_operand


@dataclass(frozen=True)
class Address:
    """A device address, for parameters that are pointers. The memory behind it is the program's
    business."""

    value: int

    def __post_init__(self) -> None:
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            raise TypeError(f"an address is an int, not a {type(self.value).__name__}")
        if not 0 <= self.value < 2**64:
            raise ValueError(f"the address {self.value} is not one of 64 bits")


class Packed:
    """The arguments of one launch, as the library takes them."""

    __slots__ = ("values", "operands", "count", "size", "copies", "_shared")

    def __init__(self) -> None:
        self.values: bytes = b""
        self.operands: bytes | None = None
        self.count = self.size = 0
        # What is waited for: copied back, or another library's memory, in which the results are.
        self.copies: dict[int, tuple[HostMemory | None, Array]] = {}
        self._shared: dict[tuple[int, int], Array] = {}

    def copy_in(self, parameter: Parameter, value: Any, context: Context, stream: int) -> Array:
        """A host's array as one of the device. The same array given twice is one on the device."""
        memory = existing(value)
        if memory.is_readonly and not parameter.is_const:
            raise Mismatch("an array that is read-only, and the kernel may write to it: give "
                           "context.array(...), a copy")
        key = (memory.address, memory.size_bytes)
        array = self._shared.get(key) if memory.size_bytes else None
        if array is None:
            array = Array._create(context, memory.shape, memory.dtype, abi.KM_SLICE_DEFAULT)
            check(raw.km_slice_upload(stream, array.handle, 0, memory.address, memory.size_bytes))
            self._shared[key] = array
        if not parameter.is_const and memory.size_bytes:
            self.copies[id(array)] = (memory, array)
        return array

    def copy_back(self, context: Context, stream: int) -> None:
        """Waits for the kernel, and copies to the host what it may have written."""
        context._waited(waited(raw.km_stream_synchronize_timeout, stream))
        for memory, array in self.copies.values():
            if memory is not None:
                check(raw.km_slice_download(stream, array.handle, 0, memory.address,
                                            memory.size_bytes))
            array.close()


def place_of(parameter: Parameter, value: Any, packed: Packed, context: Context,
             stream: int) -> Array | int:
    """The memory that is given for a pointer: an Array, or an address."""
    if value is None:
        return 0
    if isinstance(value, Address):
        return value.value
    if is_numpy(value):
        return packed.copy_in(parameter, value, context, stream)
    if hasattr(value, "__cuda_array_interface__") and not hasattr(value, "__dlpack__"):
        return cuda_address(value, context)
    if hasattr(value, "__dlpack__"):
        try:
            array = context.from_dlpack(value)
        except (Error, BufferError, ValueError) as failure:
            raise Mismatch(f"{said(value)} ({failure})") from failure
        packed.copies[id(array)] = (None, array)
        return array
    if is_host_array(value):
        return packed.copy_in(parameter, value, context, stream)
    raise Mismatch(f"{said(value)}: give an Array (context.array, zeros, empty), an array of "
                   "numpy, kernelmill.Address(number), or None for a null pointer")


def cuda_address(value: Any, context: Context) -> int:
    """The address of another library's array on the same GPU, whose work is done then."""
    if context._dlpack_device[0] == CPU:
        raise Mismatch(f"{said(value)} on a GPU, and the context is on {context.device.uri}: copy "
                       "it to the host")
    interface = value.__cuda_array_interface__
    if interface.get("strides") is not None:
        raise Mismatch(f"{said(value)} with strides: give a contiguous copy")
    settle(interface.get("stream"))
    return int(interface["data"][0])


def settle(stream: int | None) -> None:
    """Waits for a stream of the CUDA driver that another library uses; 1 is the default stream."""
    if stream is None:
        return
    driver = ctypes.CDLL("libcuda.so.1")
    result = driver.cuStreamSynchronize(ctypes.c_void_p(int(stream)))
    if result != 0:
        status = ctypes.c_int32(abi.KM_ERROR_INTERNAL)
        raw.km_status_from_cuda(result, ctypes.byref(status))
        raise Error(status.value, f"the other library's stream {stream:#x} cannot be waited for: "
                    f"cuStreamSynchronize gives {result}", native_code=result)


class Arguments:
    """Packs the arguments of one kernel."""

    def __init__(self, name: str, parameters: tuple[Parameter, ...]) -> None:
        self._name, self._parameters = name, parameters
        ends = [each.offset_bytes + each.size_bytes for each in parameters]
        self._size = max(ends, default=0)
        self._steps = [(each, each.offset_bytes, each.offset_bytes + each.size_bytes,
                        None if each.is_pointer else packer(each)) for each in parameters]

    def pack(self, arguments: tuple[Any, ...], context: Context, stream: int) -> Packed:
        """The arguments as the library takes them; those of the host are copied to the device."""
        if len(arguments) != len(self._parameters):
            listed = ", ".join(each.type for each in self._parameters)
            raise TypeError(f"{self._name}({listed}) takes {len(self._parameters)} arguments, and "
                            f"{len(arguments)} were given")
        packed = Packed()
        values = bytearray(self._size)
        operands: list[bytes] = []
        for (parameter, start, end, pack), value in zip(self._steps, arguments):
            try:
                if pack is not None and (parameter.is_value or not _is_memory(value)):
                    values[start:end] = pack(value)
                    continue
                place = value if isinstance(value, Array) else place_of(
                    parameter, value, packed, context, stream)
                values[start:end] = _memory(parameter, place, operands)
            except Mismatch as failure:
                text = (f"{self._name}: parameter {parameter.index} is '{parameter.type}', and is "
                        f"given {failure}")
                raise TypeError(text) from failure.__cause__
        packed.values, packed.size = bytes(values), self._size
        packed.operands, packed.count = b"".join(operands), len(operands)
        return packed


def _is_memory(value: Any) -> bool:
    """Tells memory from a number, for 64 bits that may be either."""
    return (isinstance(value, (Array, Address)) or value is None
            or getattr(value, "shape", ()) != () or hasattr(value, "__cuda_array_interface__"))


def _memory(parameter: Parameter, place: Array | int, operands: list[bytes]) -> bytes:
    """The place of a pointer: the library puts the address of a slice into it."""
    if isinstance(place, int):
        return place.to_bytes(8, "little")
    if place._address:
        return place.address.to_bytes(8, "little")
    access = abi.KM_ACCESS_READ if parameter.is_const else abi.KM_ACCESS_READ_WRITE
    operands.append(OPERAND.pack(parameter.index, access, place.handle, 0, 0))
    return _NULL


_NULL = bytes(8)
