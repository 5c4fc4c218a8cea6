"""The library: found and loaded at the first call, its functions bound as they are used."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ._errors import Error, class_of, split_call, translated
from .generated import abi

NAME = "libkernelmill.so." + abi.VERSION.split(".", maxsplit=1)[0]
HERE = Path(__file__).resolve().parent


def places() -> list[str]:
    """Where the library is looked for: KM_LIBRARY_DIR alone where it is set, else beside this
    package, and at last the folders of the system's loader."""
    named = os.environ.get("KM_LIBRARY_DIR")
    return [str(Path(named) / NAME)] if named else [str(HERE / "lib" / NAME), NAME]


def _load() -> ctypes.CDLL:
    tried = []
    for place in places():
        if os.sep in place and not os.path.exists(place):
            tried.append(f"{place} is not there")
            continue
        try:
            return ctypes.CDLL(place)
        except OSError as failure:
            tried.append(str(failure))
    raise Error(abi.KM_ERROR_BACKEND_UNAVAILABLE,
                f"{NAME} was not found. Install the wheel of Kernelmill, or set KM_LIBRARY_DIR to "
                f"the folder that holds it. Tried: {'; '.join(tried)}")


class Raw:
    """The C ABI: `raw.km_version(...)` and so on, as <kernelmill/c_api.h> has them, each giving its
    km_status. Handles are numbers. kernelmill.abi has the constants and structures."""

    _library: ctypes.CDLL | None = None

    def __getattr__(self, name: str) -> Callable[..., int]:
        """Binds a function at its first use."""
        prototype = abi.PROTOTYPES.get(name)
        if prototype is None:
            raise AttributeError(f"the C ABI has no function '{name}'")
        if self._library is None:
            self._library = _load()
        function: Any = self._library[name]
        function.argtypes, function.restype = prototype, ctypes.c_int32
        setattr(self, name, function)
        return function  # type: ignore[no-any-return]


raw = Raw()


def read_text(read: Callable[..., int], *arguments: Any) -> str:
    """The text that a call copies out. One that grows between two calls is asked for again."""
    size = ctypes.c_uint64()
    while True:
        check(read(*arguments, None, 0, ctypes.byref(size)))
        buffer = ctypes.create_string_buffer(max(size.value, 1))
        status = read(*arguments, buffer, len(buffer), ctypes.byref(size))
        if status != abi.KM_ERROR_BUFFER_TOO_SMALL:
            check(status)
            return buffer.value.decode(errors="replace")


def failure(status: int) -> Error:
    """The exception for a call of this thread that has just failed."""
    text = ctypes.c_char_p()
    buffer = ctypes.create_string_buffer(8192)
    suggestion, code = "", ctypes.c_int64()
    if raw.km_last_error_message(buffer, len(buffer), None) == abi.KM_ERROR_BUFFER_TOO_SMALL:
        buffer = ctypes.create_string_buffer(1 << 20)
        raw.km_last_error_message(buffer, len(buffer), None)
    message = buffer.value.decode(errors="replace")
    if not message and raw.km_status_description(status, ctypes.byref(text)) == abi.KM_SUCCESS:
        message = (text.value or b"").decode()
    if raw.km_status_recovery(status, ctypes.byref(text)) == abi.KM_SUCCESS:
        suggestion = (text.value or b"").decode()
    raw.km_last_error_native_code(ctypes.byref(code))
    call, message = split_call(message)
    return class_of(status)(status, translated(message), "", translated(suggestion), code.value,
                            call)


def check(status: int) -> None:
    """Raises what a call has failed with."""
    if status != abi.KM_SUCCESS:
        raise failure(status)


def number(kind: Any, call: Callable[..., int], *arguments: Any) -> int:
    """The one result of a call, of this type of ctypes."""
    result = kind()
    check(call(*arguments, ctypes.byref(result)))
    return result.value  # type: ignore[no-any-return]


def handle(call: Callable[..., int], *arguments: Any) -> int:
    """The handle that a call gives."""
    return number(ctypes.c_uint64, call, *arguments)


def filled(structure: Any, call: Callable[..., int], *arguments: Any) -> Any:
    """A structure that a call fills."""
    result = structure()
    result.struct_size = ctypes.sizeof(structure)
    check(call(*arguments, ctypes.byref(result)))
    return result


FOREVER_NS = 2**64 - 1
_TURN_NS = 50_000_000


def waited(call: Callable[..., int], waited_for: int, limit_ns: int = FOREVER_NS) -> int:
    """The status of a call that waits. It waits in turns, between which Python handles signals:
    Ctrl-C ends a wait for a kernel that does not end."""
    while True:
        turn = min(_TURN_NS, limit_ns)
        status = call(waited_for, turn)
        limit_ns -= turn if limit_ns != FOREVER_NS else 0
        if status != abi.KM_TIMEOUT or limit_ns == 0:
            return status


def encoded(text: Any, what: str) -> bytes:
    """A text for the library, which ends at a zero."""
    if not isinstance(text, str):
        raise TypeError(f"{what} is a {type(text).__name__}; give a str")
    if "\0" in text:
        raise ValueError(f"{what} holds a zero, at which the library's texts end")
    return text.encode(errors="surrogateescape")


def counted(value: Any, what: str, most: int = 2**32 - 1) -> int:
    """A number that is not negative."""
    try:
        result = value.__index__()
    except AttributeError:
        raise TypeError(f"{what} is a {type(value).__name__}; give an int") from None
    if isinstance(result, int) and 0 <= result <= most:
        return result
    raise ValueError(f"{what} is {result}; give 0 to {most}")
