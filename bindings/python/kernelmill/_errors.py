"""Failures: an exception that has all that the library knows of them."""

from __future__ import annotations

import re

from .generated import abi


class Error(Exception):
    """A failed call. `status` is its KM_ERROR_... number and `name` that name; `suggestion` says
    what to do about it, `native_code` is the backend's own code (CUresult, errno ...) or 0, and
    `call` the function of the C ABI that failed, if it was one."""

    def __init__(self, status: int, message: str, name: str = "", suggestion: str = "",
                 native_code: int = 0, call: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.call = call
        self.name = name or NAMES.get(status, str(status))
        self.suggestion = suggestion
        self.native_code = native_code

    def __str__(self) -> str:
        return f"{self.message} [{self.name}]"

    def __reduce__(self) -> tuple[object, ...]:
        given = (self.status, self.message, self.name, self.suggestion, self.native_code,
                 self.call)
        return type(self), given


class KernelFault(Error):
    """A kernel failed, and with it its context: every call on the context raises this until
    Context.reset(), after which what was made before is gone."""


class CompilationError(Error):
    """CUDA C++ with errors. `log` has all that the compiler said."""

    log = ""


class OutOfMemoryError(Error, MemoryError):
    """The device or the host has not that much memory."""


NAMES = {value: name for name, value in vars(abi).items()
         if name.startswith(("KM_ERROR_", "KM_SUCCESS", "KM_NOT_READY", "KM_TIMEOUT"))
         and not name.startswith("KM_ERROR_CATEGORY_")}
_MEMORY = (abi.KM_ERROR_OUT_OF_HOST_MEMORY, abi.KM_ERROR_OUT_OF_DEVICE_MEMORY)


# What this module has for functions that the library's texts name; others are kernelmill.raw's.
CALLS = {"km_context_reset": "Context.reset()", "km_program_compile": "Context.module()",
         "km_slice_from_host": "Context.from_dlpack()", "km_slice_download": "Array.numpy()",
         "km_program_add_name_expression": "Context.module(..., expressions=[...])"}


def translated(text: str) -> str:
    """A text of the library in the words of this module."""
    return re.sub(r"\bkm_[a-z0-9_]+\b", lambda found: CALLS.get(found[0], found[0]), text)


def split_call(text: str) -> tuple[str, str]:
    """The function that a message begins with, and the message itself."""
    found = re.match(r"(km_[a-z0-9_]+): ", text)
    return (found[1], text[found.end():]) if found else ("", text)


def class_of(status: int) -> type[Error]:
    """The class of the exception for a status."""
    if status >= abi.KM_ERROR_ILLEGAL_ADDRESS:
        return KernelFault
    if status == abi.KM_ERROR_COMPILATION_FAILED:
        return CompilationError
    return OutOfMemoryError if status in _MEMORY else Error
