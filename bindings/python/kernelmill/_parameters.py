"""What a kernel takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ._library import filled, raw, read_text
from .generated import abi


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel. `type` is that of CUDA C++ where the source or the kernel's name
    tells it ("const float*"), else what PTX says ("a pointer")."""

    index: int
    type: str
    size_bytes: int
    offset_bytes: int
    is_const: bool = field(repr=False)
    is_pointer: bool = field(repr=False)
    is_value: bool = field(repr=False)  # neither: 64 bits that may be an address
    element: int = field(repr=False)
    lanes: int = field(repr=False)

    @classmethod
    def of(cls, function: int, index: int) -> Parameter:
        """What the library tells of a kernel's parameter."""
        info = filled(abi.km_param_info, raw.km_function_param, function, index)
        told = filled(abi.km_param_signature, raw.km_function_param_signature, function, index)
        known = told.kind != abi.KM_SIGNATURE_KIND_UNKNOWN
        is_pointer = (told.kind == abi.KM_SIGNATURE_KIND_POINTER if known
                      else info.kind == abi.KM_PARAM_KIND_POINTER)
        is_value = (told.kind == abi.KM_SIGNATURE_KIND_VALUE if known
                    else info.kind == abi.KM_PARAM_KIND_VALUE)
        is_value = is_value and told.element != abi.KM_ELEMENT_TYPE_POINTER
        element = told.element if known else _element_of(info)
        name = read_text(raw.km_function_param_type_name, function, index) if known else ""
        if is_pointer and name:
            name = f"{'const ' if told.is_const else ''}{name}*"
        return cls(index, name or _described(info), info.size_bytes, info.offset_bytes,
                   bool(told.is_const), is_pointer, is_value, element, max(told.lanes, 1))


def _element_of(info: Any) -> int:
    """The type of a number that PTX declares: it does not tell signed ones from others."""
    if info.value_type == abi.KM_PARAM_TYPE_FLOAT:
        return {2: abi.KM_ELEMENT_TYPE_F16, 4: abi.KM_ELEMENT_TYPE_F32,
                8: abi.KM_ELEMENT_TYPE_F64}.get(info.size_bytes, 0)
    return 0


def _described(info: Any) -> str:
    if info.kind == abi.KM_PARAM_KIND_POINTER:
        return "a pointer"
    kinds = {abi.KM_PARAM_TYPE_INTEGER: "an integer", abi.KM_PARAM_TYPE_FLOAT: "a float"}
    return f"{kinds.get(info.value_type, 'a value')} of {info.size_bytes} bytes"
