"""Streams and events."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._errors import Error
from ._library import FOREVER_NS, check, failure, handle, number, raw, waited
from ._objects import Object
from .generated import abi

if TYPE_CHECKING:
    from ._context import Context


def timeout_ns(timeout_s: float | None) -> int:
    """A time limit as the library takes it; None: none."""
    if timeout_s is None:
        return FOREVER_NS
    if isinstance(timeout_s, bool) or not isinstance(timeout_s, (int, float)):
        raise TypeError(f"timeout_s is a {type(timeout_s).__name__}; give seconds, or None")
    if not 0 <= timeout_s < 1e9:
        raise ValueError(f"timeout_s is {timeout_s}; give 0 to 1e9 seconds, or None for no limit")
    return round(timeout_s * 1e9)


class Stream(Object):
    """An ordered queue of work that runs beside other streams. Context.stream() makes one."""

    _kind = "stream"

    def __init__(self, context: Context, priority: int = 0) -> None:
        if isinstance(priority, bool) or not isinstance(priority, int):
            raise TypeError(f"priority is a {type(priority).__name__}; give an int")
        if not -2**31 <= priority < 2**31:
            raise ValueError(f"priority is {priority}; the devices' are small numbers")
        self._own(handle(raw.km_stream_create, context.handle, abi.KM_STREAM_DEFAULT, priority),
                  context)

    @classmethod
    def _default(cls, context: Context) -> Stream:
        stream = cls.__new__(cls)
        stream._own(handle(raw.km_context_default_stream, context.handle), context)
        return stream

    @property
    def context(self) -> Context:
        """The context that the stream belongs to."""
        assert self._context is not None
        return self._context

    @property
    def priority(self) -> int:
        """The priority that the stream was made with."""
        return number(ctypes.c_int32, raw.km_stream_priority, self.handle)

    def synchronize(self, timeout_s: float | None = None) -> bool:
        """Waits until all work queued so far is done; False: the time limit passed first."""
        limit = timeout_ns(timeout_s)
        status = waited(raw.km_stream_synchronize_timeout, self.handle, limit)
        return self.context._waited(status)

    @property
    def done(self) -> bool:
        """Tells if all work queued so far is done."""
        return is_done(raw.km_stream_query(self.handle))

    def wait(self, event: Event) -> None:
        """Has work that is queued from now on wait for what the event marks."""
        if not isinstance(event, Event):
            raise TypeError(f"a {type(event).__name__} is given; give an Event")
        check(raw.km_stream_wait_event(self.handle, event.handle))

    def record(self) -> Event:
        """A new event that marks the end of the work queued so far."""
        event = Event(self.context)
        event.record(self)
        return event

    def call(self, function: Callable[[], Any]) -> None:
        """Has a function called, on a thread of the library, when all work queued so far is done:
        also after a fault or a reset. It may not wait for work. What it raises is reported as
        sys.unraisablehook does."""
        if not callable(function):
            raise TypeError(f"a {type(function).__name__} is given; give a function")
        key = _waiting.add(function)
        status = raw.km_stream_add_callback(self.handle, _run_waiting, key)
        if status != abi.KM_SUCCESS:
            _waiting.take(key)
            raise failure(status)


class _Waiting:
    """Functions that streams will call, by numbers that the library carries."""

    def __init__(self) -> None:
        self._functions: dict[int, Callable[[], Any]] = {}
        self._keys = itertools.count(1)

    def add(self, function: Callable[[], Any]) -> int:
        key = next(self._keys)
        self._functions[key] = function
        return key

    def take(self, key: int) -> Callable[[], Any] | None:
        return self._functions.pop(key, None)


_waiting = _Waiting()


def _run(key: int, _status: int) -> None:
    function = _waiting.take(key)
    if function is not None:
        function()


_run_waiting = abi.km_host_callback(_run)


def is_done(status: int) -> bool:
    """The answer of a query."""
    if status not in (abi.KM_SUCCESS, abi.KM_NOT_READY):
        raise failure(status)
    return status == abi.KM_SUCCESS


class Event(Object):
    """A mark in a stream, to wait for and to measure with. Context.event() and Stream.record()
    make one."""

    _kind = "event"

    def __init__(self, context: Context, timing: bool = True) -> None:
        flags = abi.KM_EVENT_DEFAULT if timing else abi.KM_EVENT_DISABLE_TIMING
        self._own(handle(raw.km_event_create, context.handle, flags), context)

    def record(self, stream: Stream | None = None) -> None:
        """Marks the end of the work queued so far, in the default stream if none is named."""
        assert self._context is not None
        check(raw.km_event_record(self.handle, self._context._stream_handle(stream)))

    def synchronize(self, timeout_s: float | None = None) -> bool:
        """Waits until the marked work is done; False: the time limit passed first."""
        assert self._context is not None
        limit = timeout_ns(timeout_s)
        status = waited(raw.km_event_synchronize_timeout, self.handle, limit)
        return self._context._waited(status)

    @property
    def done(self) -> bool:
        """Tells if the marked work is done; so it is for an event that was never recorded."""
        return is_done(raw.km_event_query(self.handle))

    def elapsed_ns(self, start: Event) -> int:
        """Nanoseconds from the mark of `start` to this one, which both have to be reached."""
        if not isinstance(start, Event):
            raise TypeError(f"a {type(start).__name__} is given; give an Event")
        result = ctypes.c_int64()
        status = raw.km_event_elapsed_ns(start.handle, self.handle, ctypes.byref(result))
        if status == abi.KM_NOT_READY:
            raise Error(status, "the events have not been reached yet: call synchronize() of the "
                                "later one before")
        check(status)
        return result.value
