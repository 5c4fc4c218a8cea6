"""Types of elements, by numpy's names; numpy itself is looked for only where a program uses it."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from typing import Any

from .generated import abi

# numpy's dtype, a type such as numpy.float32 or float, or a name: "float32", "f4", "f32".
DTypeLike = Any


@dataclass(frozen=True)
class DType:
    """A type of elements: its size, its number in the C ABI, its code for struct and memoryview,
    its character in numpy's type strings, and its code in DLPack."""

    name: str
    size_bytes: int
    element: int
    code: str = ""
    kind: str = "V"
    dlpack: int = -1
    numpy: Any = None  # the dtype itself, of a structure

    @property
    def typestr(self) -> str:
        """The type as the array interfaces spell it."""
        return f"{'|' if self.size_bytes == 1 else '<'}{self.kind}{self.size_bytes}"


_ROWS = [
    ("int8", 1, abi.KM_ELEMENT_TYPE_I8, "b", "i", 0),
    ("uint8", 1, abi.KM_ELEMENT_TYPE_U8, "B", "u", 1),
    ("int16", 2, abi.KM_ELEMENT_TYPE_I16, "h", "i", 0),
    ("uint16", 2, abi.KM_ELEMENT_TYPE_U16, "H", "u", 1),
    ("int32", 4, abi.KM_ELEMENT_TYPE_I32, "i", "i", 0),
    ("uint32", 4, abi.KM_ELEMENT_TYPE_U32, "I", "u", 1),
    ("int64", 8, abi.KM_ELEMENT_TYPE_I64, "q", "i", 0),
    ("uint64", 8, abi.KM_ELEMENT_TYPE_U64, "Q", "u", 1),
    ("float16", 2, abi.KM_ELEMENT_TYPE_F16, "e", "f", 2),
    ("float32", 4, abi.KM_ELEMENT_TYPE_F32, "f", "f", 2),
    ("float64", 8, abi.KM_ELEMENT_TYPE_F64, "d", "f", 2),
    ("bool", 1, abi.KM_ELEMENT_TYPE_BOOL, "?", "b", 6),
    ("bfloat16", 2, abi.KM_ELEMENT_TYPE_BF16, "", "V", 4),
    ("float8_e4m3fn", 1, abi.KM_ELEMENT_TYPE_F8_E4M3, "", "V", 10),
    ("float8_e5m2", 1, abi.KM_ELEMENT_TYPE_F8_E5M2, "", "V", 12),
    # float2 and thrust::complex are one layout and two types: slices without a type fit both.
    ("complex64", 8, abi.KM_ELEMENT_TYPE_UNKNOWN, "", "c", 5),
    ("complex128", 16, abi.KM_ELEMENT_TYPE_UNKNOWN, "", "c", 5),
]
TYPES = {row[0]: DType(*row) for row in _ROWS}
_SHORT = {"i": "int", "u": "uint", "f": "float", "c": "complex"}
# "f4" as numpy abbreviates, "f32" as the command `kernelmill run` does, and memoryview's codes.
ALIASES = {"float": "float64", "int": "int64", "bf16": "bfloat16", "b1": "bool"}
for _type in list(TYPES.values()):
    if _type.kind in _SHORT:
        ALIASES[f"{_type.kind}{_type.size_bytes}"] = _type.name
    if _type.kind in "iuf":
        ALIASES[f"{_type.kind}{8 * _type.size_bytes}"] = _type.name
_FORMATS = {**{row[3]: row[0] for row in _ROWS if row[3]}, "l": "int64", "L": "uint64",
            "n": "int64", "N": "uint64", "c": "uint8"}
_BY_ELEMENT = {each.element: each for each in TYPES.values() if each.element}


def numpy() -> Any:
    """The package numpy; an error that says how to get it where it is missing."""
    try:
        return importlib.import_module("numpy")
    except ImportError:
        raise ImportError("this needs numpy: pip install numpy") from None


def numpy_if_loaded() -> Any:
    """numpy, if the program has imported it: else no value can be one of its own."""
    return sys.modules.get("numpy")


def _unknown(given: Any) -> TypeError:
    names = ", ".join(TYPES)
    return TypeError(f"dtype is {given!r}; give one of {names}, or a structured dtype of numpy")


def _of_numpy(dtype: Any) -> DType:
    """The type for a dtype of numpy, whose name tells all but the order of its bytes."""
    if not dtype.isnative:
        raise TypeError(f"dtype {dtype} has its bytes in another order than this machine: convert "
                        "it by astype()")
    if dtype.names is not None:
        if dtype.hasobject:
            raise TypeError(f"dtype {dtype} holds Python objects, which kernels cannot use")
        return DType(str(dtype), dtype.itemsize, abi.KM_ELEMENT_TYPE_NAMED, numpy=dtype)
    found = TYPES.get(dtype.name)
    if found is None:
        raise _unknown(dtype)
    return found


def dtype_of(given: DTypeLike) -> DType:
    """The type that a program has named."""
    if isinstance(given, DType):
        return given
    if isinstance(given, str):
        name = given.lstrip("<=|") if given not in TYPES else given
        found = TYPES.get(ALIASES.get(name, name))
        if found is None:
            raise _unknown(given)
        return found
    if given is float or given is int or given is bool:
        return TYPES[ALIASES.get(given.__name__, given.__name__)]
    if hasattr(given, "isnative") and hasattr(given, "names"):
        return _of_numpy(given)
    loaded = numpy_if_loaded()
    if loaded is None or not isinstance(given, type):
        raise _unknown(given)
    try:
        return _of_numpy(loaded.dtype(given))
    except TypeError:
        raise _unknown(given) from None


def dtype_of_format(code: str) -> DType:
    """The type for the format of a memoryview."""
    name = _FORMATS.get(code.lstrip("@=<") if len(code) > 1 else code)
    if name is None:
        raise TypeError(f"a buffer of the format {code!r} has no elements that kernels know; give "
                        "numbers of up to 64 bits in this machine's order of bytes")
    return TYPES[name]


def dtype_of_dlpack(code: int, bits: int, lanes: int) -> DType:
    """The type for DLPack's description of it."""
    for each in TYPES.values():
        if (each.dlpack, 8 * each.size_bytes) == (code, bits) and lanes == 1:
            return each
    raise TypeError(f"DLPack's type (code {code}, {bits} bits, {lanes} lanes) is none that kernels "
                    "know here")


def dtype_of_element(element: int) -> DType | None:
    """The type for one of the C ABI, if numpy has it."""
    return _BY_ELEMENT.get(element)


def numpy_dtype(dtype: DType) -> Any:
    """numpy's own dtype."""
    if dtype.numpy is not None:
        return dtype.numpy
    package = numpy()
    try:
        return package.dtype(dtype.name)
    except TypeError:
        pass
    try:
        return package.dtype(getattr(importlib.import_module("ml_dtypes"), dtype.name))
    except (ImportError, AttributeError):
        raise TypeError(f"numpy has no {dtype.name}: pip install ml_dtypes, or use "
                        "tobytes()") from None
