"""Objects of the library that a program holds."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, TypeVar

from ._errors import Error
from ._library import raw
from .generated import abi

if TYPE_CHECKING:
    from ._context import Context

Self = TypeVar("Self", bound="Object")


class Object:
    """An object of the library: closed by close(), by `with`, or when nothing refers to it. Work
    that uses it goes on to its end. Any use afterwards raises Error."""

    _kind = ""  # "slice": of km_slice_destroy
    _handle = 0
    _context: Context | None = None

    def _own(self, handle: int, context: Context | None = None) -> None:
        """Takes over a handle. What belongs to a context is closed with it."""
        self._handle, self._context = handle, context
        if context is not None:
            context._children.add(self)

    @property
    def handle(self) -> int:
        """The handle, for functions of `kernelmill.raw`."""
        if self._handle:
            return self._handle
        raise Error(abi.KM_ERROR_INVALID_HANDLE, f"this {type(self).__name__} was closed already; "
                    "use it before close(), before the end of its `with`, and before its context "
                    "is closed")

    @property
    def closed(self) -> bool:
        """Tells if close() was called."""
        return not self._handle

    def close(self) -> None:
        """Lets go of the object. Closing twice is fine."""
        handle, self._handle = self._handle, 0
        if handle:
            getattr(raw, f"km_{self._kind}_destroy")(handle)

    def __enter__(self: Self) -> Self:
        self.handle  # closed ones cannot be entered
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.close()

    def __copy__(self) -> Any:
        raise TypeError(f"a {type(self).__name__} cannot be copied: share it")

    def __reduce__(self) -> Any:
        raise TypeError(f"a {type(self).__name__} cannot be pickled: it belongs to this process")
