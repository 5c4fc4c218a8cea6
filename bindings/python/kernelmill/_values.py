"""Values of kernels' parameters as bytes."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from typing import Any

from ._parameters import Parameter
from .generated import abi

INTEGERS = {abi.KM_ELEMENT_TYPE_BOOL: "?", abi.KM_ELEMENT_TYPE_CHAR: "b",
            abi.KM_ELEMENT_TYPE_I8: "b", abi.KM_ELEMENT_TYPE_U8: "B", abi.KM_ELEMENT_TYPE_I16: "h",
            abi.KM_ELEMENT_TYPE_U16: "H", abi.KM_ELEMENT_TYPE_I32: "i",
            abi.KM_ELEMENT_TYPE_U32: "I", abi.KM_ELEMENT_TYPE_I64: "q",
            abi.KM_ELEMENT_TYPE_U64: "Q"}
FLOATS = {abi.KM_ELEMENT_TYPE_F16: "e", abi.KM_ELEMENT_TYPE_F32: "f", abi.KM_ELEMENT_TYPE_F64: "d"}
UNSIGNED = {1: "B", 2: "H", 4: "I", 8: "Q"}
SIGNED = {1: "b", 2: "h", 4: "i", 8: "q"}
REALS = {2: "e", 4: "f", 8: "d"}
_WIDE = (abi.KM_ELEMENT_TYPE_I128, abi.KM_ELEMENT_TYPE_U128, abi.KM_ELEMENT_TYPE_BF16)


def plain(value: Any) -> Any:
    """The number in a scalar of numpy, of ctypes, or in an array without axes."""
    if type(value) in (int, float, bool):
        return value
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        return value.item()
    if isinstance(value, ctypes._SimpleCData):
        return value.value
    if not isinstance(value, (int, float)) and hasattr(value, "__index__"):
        return value.__index__()
    return value


def said(value: Any) -> str:
    """A value in a message: its type, and itself if it is short."""
    text = repr(value)
    shown = f" ({text})" if isinstance(value, (int, float, str, complex)) and len(text) < 30 else ""
    return f"{'an' if type(value).__name__[0] in 'aeiou' else 'a'} {type(value).__name__}{shown}"


class Mismatch(TypeError):
    """A value that does not fit its parameter, said without naming the kernel."""


def pack_number(parameter: Parameter, value: Any) -> bytes:
    """A number of the parameter's type. Whole numbers become floats, never the other way round."""
    number = plain(value)
    if not isinstance(number, (int, float)):
        raise Mismatch(f"{said(value)}: give a number")
    if parameter.element == abi.KM_ELEMENT_TYPE_BF16:
        return _bfloat16(number)
    if parameter.element in FLOATS:
        return _packed(FLOATS[parameter.element], number, value)
    if isinstance(number, float):
        raise Mismatch(f"{said(value)}: give an int, such as int({number!r})"
                       if number == number else f"{said(value)}: give an int")
    if parameter.element == abi.KM_ELEMENT_TYPE_BOOL and number not in (0, 1):
        raise Mismatch(f"{said(value)}: give True or False")
    if parameter.element in (abi.KM_ELEMENT_TYPE_I128, abi.KM_ELEMENT_TYPE_U128):
        return _wide(parameter, number)
    return _packed(INTEGERS[parameter.element], number, value)


def _packed(code: str, number: Any, value: Any) -> bytes:
    try:
        return struct.pack("=" + code, number)
    except (struct.error, OverflowError):
        raise Mismatch(f"{said(value)}, which does not fit") from None


def _wide(parameter: Parameter, number: int) -> bytes:
    try:
        return number.to_bytes(16, "little", signed=parameter.element == abi.KM_ELEMENT_TYPE_I128)
    except OverflowError:
        raise Mismatch(f"{said(number)}, which does not fit") from None


def _bfloat16(number: int | float) -> bytes:
    """Rounded to the nearest, ties to even."""
    try:
        bits = int.from_bytes(struct.pack("<f", number), "little")
    except OverflowError:
        raise Mismatch(f"{said(number)}, which does not fit") from None
    if number == number:
        bits += 0x7FFF + (bits >> 16 & 1)
    return (bits >> 16 & 0xFFFF).to_bytes(2, "little")


def packer(parameter: Parameter) -> Callable[[Any], bytes]:
    """How a value of the parameter is packed. Python's own numbers take the short way."""
    code = INTEGERS.get(parameter.element) or FLOATS.get(parameter.element)
    if not parameter.is_value or not code and parameter.element not in _WIDE:
        return lambda value: pack_bytes(parameter, value)
    if parameter.lanes > 1:
        return lambda value: pack_vector(parameter, value)
    if not code or code == "?":
        return lambda value: pack_number(parameter, value)
    kind = float if parameter.element in FLOATS else int
    pack = struct.Struct("=" + code).pack

    def number(value: Any) -> bytes:
        if type(value) is kind:
            try:
                return pack(value)
            except (struct.error, OverflowError):
                pass  # the long way says what is wrong
        return pack_number(parameter, value)

    return number


def pack_vector(parameter: Parameter, value: Any) -> bytes:
    """A float4 and the like, from as many numbers."""
    numbers = (value.real, value.imag) if isinstance(value, complex) else value
    try:
        parts = [pack_number(parameter, each) for each in numbers]
    except TypeError as failure:
        if isinstance(failure, Mismatch):
            raise
        raise Mismatch(f"{said(value)}: give {parameter.lanes} numbers, such as a tuple") from None
    if len(parts) != parameter.lanes:
        raise Mismatch(f"{len(parts)} numbers: give {parameter.lanes}")
    return b"".join(parts)


def pack_bytes(parameter: Parameter, value: Any) -> bytes:
    """A structure, or bits that PTX says no more of: as many bytes, or a number of that size."""
    size = parameter.size_bytes
    if isinstance(value, (bytes, bytearray, memoryview, ctypes.Structure, ctypes.Union,
                          ctypes.Array)):
        data = bytes(value)
    elif hasattr(value, "tobytes"):
        data = value.tobytes()
    elif isinstance(value, ctypes._SimpleCData):
        data = bytes(value)
    else:
        return _bits(parameter, value)
    if len(data) != size:
        if len(data) in UNSIGNED and isinstance(plain(value), int):
            return _bits(parameter, plain(value))
        raise Mismatch(f"{said(value)} of {len(data)} bytes: give {size} bytes")
    return data


def _bits(parameter: Parameter, value: Any) -> bytes:
    size, number = parameter.size_bytes, plain(value)
    if isinstance(number, float) and size == 8 and parameter.element == 0:
        return struct.pack("=d", number)
    is_structure = parameter.element == abi.KM_ELEMENT_TYPE_NAMED and size > 4  # no enumeration
    if isinstance(number, int) and size in UNSIGNED and not is_structure:
        return _packed((SIGNED if number < 0 else UNSIGNED)[size], number, value)
    wanted = {4: "numpy.float32 or ctypes.c_float", 2: "numpy.float16"}.get(size, "")
    advice = f"a {wanted}, whose size is known" if isinstance(number, float) and wanted else (
        f"{size} bytes: bytes, a scalar of a structured dtype of numpy, or a ctypes.Structure")
    raise Mismatch(f"{said(value)}: give {advice}")
