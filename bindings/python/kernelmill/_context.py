"""Contexts, and the devices that they are on."""

from __future__ import annotations

import ctypes
import math
import os
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from . import _dlpack
from ._array import Array, Shape, shape_of
from ._dtypes import DTypeLike, dtype_of
from ._errors import Error
from ._host import readable
from ._library import check, encoded, failure, filled, handle, number, raw, waited
from ._module import Module, load
from ._objects import Object
from ._stream import Event, Stream
from .generated import abi


_CHECKED: int = abi.KM_CONTEXT_CHECKED


@dataclass(frozen=True)
class Device:
    """A device, with what it has."""

    uri: str
    backend: str
    name: str
    ordinal: int
    isa: str
    compute_capability: tuple[int, int]
    total_memory_bytes: int
    multiprocessor_count: int
    warp_size: int
    max_threads_per_block: int
    max_block: tuple[int, int, int]
    max_grid: tuple[int, int, int]
    shared_bytes_per_block: int
    threads: int

    @classmethod
    def _of(cls, device: int) -> Device:
        info = filled(abi.km_device_info, raw.km_device_info_get, device)
        capability = (info.compute_capability_major, info.compute_capability_minor)
        return cls(info.uri.decode(), info.backend.decode(), info.name.decode(errors="replace"),
                   info.ordinal, info.isa.decode(), capability, info.total_memory_bytes,
                   info.multiprocessor_count, info.warp_size, info.max_threads_per_block,
                   tuple(info.max_block_dim), tuple(info.max_grid_dim),
                   info.shared_bytes_per_block, info.threads)


def devices() -> list[Device]:
    """All devices that can be used here."""
    found = []
    for index in range(number(ctypes.c_uint32, raw.km_backend_count)):
        backend = filled(abi.km_backend_info, raw.km_backend_info_get, index)
        for ordinal in range(backend.device_count if backend.status == abi.KM_SUCCESS else 0):
            device = handle(raw.km_device_open, backend.name + b":%d" % ordinal)
            found.append(Device._of(device))
            raw.km_device_destroy(device)
    return found


class Context(Object):
    """A device opened: "cpu", "cpu:1", "cuda:0", or "auto", the first CUDA device that works, else
    the CPU. With `ordered`, work of different streams that uses the same arrays runs in the order
    of the calls. With `checked`, CPU devices test each access of a kernel, and the first wrong one
    is a KernelFault; None: unless Python was started with -O. `output` gets what kernels print, as
    texts; None: it goes to standard output.

    It closes what was made from it when it is closed."""

    _kind = "context"

    def __init__(self, device: str = "auto", *, ordered: bool = True,
                 checked: bool | None = None, output: Callable[[str], Any] | None = None
                 ) -> None:
        self._children: weakref.WeakSet[Object] = weakref.WeakSet()
        self._kept: list[Any] = []
        self._raised: BaseException | None = None
        self._output: Callable[[str], Any] | None = None
        opened = handle(raw.km_device_open, encoded(device, "device"))
        try:
            flags = abi.KM_CONTEXT_ORDERED if ordered else abi.KM_CONTEXT_DEFAULT
            flags |= _CHECKED if (__debug__ if checked is None else checked) else 0
            self._device = Device._of(opened)
            self._own(handle(raw.km_context_create_with_flags, opened, flags))
        finally:
            raw.km_device_destroy(opened)
        self._queue = 0  # the default stream's handle
        kind = _dlpack.CPU if self._device.backend == "cpu" else _dlpack.CUDA
        self._dlpack_device = (kind, 0 if kind == _dlpack.CPU else self._device.ordinal)
        self._write = abi.km_output_callback(_writer(weakref.ref(self)))
        if output is not None:
            self.output = output

    def __repr__(self) -> str:
        return f"<kernelmill.Context on {self._device.uri}{', closed' if self.closed else ''}>"

    def close(self) -> None:
        """Closes the context and all that was made from it. Work that is queued goes on."""
        if self._handle:
            if self._output is not None:
                self._wait()  # for the last that kernels print
            for child in self._living():
                child.close()
            if self._output is not None:
                raw.km_context_set_output(self._handle, None, None)
            self._forget_queue()
        super().close()

    # --- The device ---

    @property
    def device(self) -> Device:
        """The device that the context is on."""
        return self._device

    @property
    def checked(self) -> bool:
        """Tells if accesses of kernels are tested: KM_CPU_MEMORY has the last word."""
        return bool(number(ctypes.c_uint32, raw.km_context_flags_get, self.handle) & _CHECKED)

    def memory_bytes(self) -> tuple[int, int]:
        """The device's memory: what can still be allocated, and all of it."""
        free, total = ctypes.c_uint64(), ctypes.c_uint64()
        check(raw.km_context_memory_info(self.handle, ctypes.byref(free), ctypes.byref(total)))
        return free.value, total.value

    def synchronize(self) -> None:
        """Waits until all work of the context is done."""
        self.handle  # closed ones cannot wait
        self._waited(self._wait())
        self._kept.clear()

    def reset(self) -> None:
        """Ends a fault: stops what runs and drops what is queued. Arrays, modules and all else that
        was made before is gone; the context itself can be used on."""
        status = raw.km_context_reset(self.handle)
        self._forget_queue()
        self._waited(status)
        self._kept.clear()

    @property
    def output(self) -> Callable[[str], Any] | None:
        """The function that gets what kernels print, when a call waits for them."""
        return self._output

    @output.setter
    def output(self, function: Callable[[str], Any] | None) -> None:
        if function is not None and not callable(function):
            raise TypeError(f"output is a {type(function).__name__}; give a function that takes a "
                            "str, such as sys.stdout.write, or None")
        callback = None if function is None else self._write
        check(raw.km_context_set_output(self.handle, callback, None))
        self._output = function

    # --- What is made from it ---

    @property
    def default_stream(self) -> Stream:
        """The stream of launches and copies that name none."""
        return Stream._default(self)

    def stream(self, priority: int = 0) -> Stream:
        """A new stream; lower numbers of `priority` go first."""
        return Stream(self, priority)

    def event(self, timing: bool = True) -> Event:
        """A new event."""
        return Event(self, timing)

    def module(self, path: str | os.PathLike[str] | None = None, *, source: str | None = None,
               ptx: str | bytes | None = None, name: str | None = None,
               options: Iterable[str] = (), expressions: Iterable[str] = ()) -> Module:
        """Loads kernels: a file of CUDA C++, PTX or object code, or a text. `options` are those of
        NVRTC ("-DN=4", "--use_fast_math"), `expressions` names of C++ that are to be found
        ("scale<float>"), and `name` is for messages."""
        return Module(self, load(self, path, source, ptx, name, options, expressions))

    def array(self, values: Any, dtype: DTypeLike = None, stream: Stream | None = None) -> Array:
        """A copy of an array of the host, of a list of numbers, or of another Array."""
        if isinstance(values, Array):
            return self._copied(values, dtype, stream)
        memory = readable(values, dtype)
        result = Array._create(self, memory.shape, memory.dtype, abi.KM_SLICE_DEFAULT)
        result._upload(memory.address, stream)
        return result

    def _copied(self, values: Array, dtype: DTypeLike, stream: Stream | None) -> Array:
        if dtype is not None and dtype_of(dtype) != values._dtype:
            raise TypeError(f"the Array has elements of {values.dtype}: convert its numpy()")
        result = self.empty(values.shape, values._dtype)
        if values.context is self:
            result.copy_from(values, stream)
        elif values.nbytes:
            result._upload(values.tobytes(), stream)
        return result

    def zeros(self, shape: int | Shape, dtype: DTypeLike = "float32") -> Array:
        """An array of zeros."""
        return Array._create(self, shape_of(shape), dtype_of(dtype), abi.KM_SLICE_ZEROED)

    def empty(self, shape: int | Shape, dtype: DTypeLike = "float32") -> Array:
        """An array whose elements are anything."""
        return Array._create(self, shape_of(shape), dtype_of(dtype), abi.KM_SLICE_DEFAULT)

    def from_dlpack(self, other: Any) -> Array:
        """An array of another library (numpy, PyTorch, JAX, CuPy) without a copy. Both have to be
        on one device: the host's memory on a CPU device, the same GPU on a CUDA device."""
        if not hasattr(other, "__dlpack__") or not hasattr(other, "__dlpack_device__"):
            raise TypeError(f"a {type(other).__name__} has no __dlpack__: copy it by array()")
        kind, ordinal = (int(part) for part in other.__dlpack_device__())
        on_cpu = self._dlpack_device[0] == _dlpack.CPU
        if (kind, ordinal) != self._dlpack_device and not (on_cpu and kind == _dlpack.CPU):
            raise Error(abi.KM_ERROR_CONTEXT_MISMATCH,
                        f"the array lies on DLPack's device ({kind}, {ordinal}), and this context "
                        f"is on {self._dlpack_device} ({self._device.uri}): copy it by array()")
        given = {} if on_cpu else {"stream": 1}  # the other library orders its work before this
        taken = _dlpack.take(other.__dlpack__(**given))
        if taken.is_readonly:
            raise BufferError("the array is read-only: copy it by array()")
        return self._adopted(taken)

    def _adopted(self, taken: _dlpack.Taken) -> Array:
        """The memory of another library as an array."""
        count = math.prod(taken.shape)
        if count == 0:
            return self.empty(taken.shape, taken.dtype)
        if self._dlpack_device[0] == _dlpack.CUDA:
            return Array._foreign(self, taken, taken.address, taken.shape, taken.dtype)
        array = self._known(taken)
        if array is None:
            adopted = handle(raw.km_slice_from_host, self.handle, taken.address, count,
                             taken.dtype.size_bytes, None, None)
            array = Array(self, adopted, taken.shape, taken.dtype)
        array._borrowed = taken
        return array

    def _known(self, taken: _dlpack.Taken) -> Array | None:
        """Memory that is the context's already: its own, or taken before."""
        found, offset = ctypes.c_uint64(), ctypes.c_uint64()
        if raw.km_context_find_slice(self.handle, taken.address, ctypes.byref(found),
                                     ctypes.byref(offset)) != abi.KM_SUCCESS:
            return None
        try:
            unit = filled(abi.km_slice_info, raw.km_slice_info_get, found.value).element_size_bytes
            size = math.prod(taken.shape) * taken.dtype.size_bytes
            if offset.value % unit or size % unit:
                return None
            part = handle(raw.km_slice_view, found.value, offset.value // unit, size // unit)
        finally:
            raw.km_slice_destroy(found.value)
        return Array(self, part, taken.shape, taken.dtype, unit)

    # --- For the objects of the context ---

    def _stream_handle(self, stream: Stream | None) -> int:
        """The handle of a stream that a program names, or of the default one."""
        if stream is None:
            if not self._queue:
                self._queue = handle(raw.km_context_default_stream, self.handle)
            return self._queue
        if not isinstance(stream, Stream):
            raise TypeError(f"stream is a {type(stream).__name__}; give a Stream, or None")
        return stream.handle

    def _living(self) -> list[Object]:
        """What belongs to the context, while other threads may make more."""
        while True:
            try:
                return list(self._children)
            except RuntimeError:
                continue

    def _wait(self) -> int:
        """Waits for all work: for each stream in turns, and at last for what others have queued."""
        queues = [child._handle for child in self._living() if isinstance(child, Stream)]
        for queue in [self._queue, *queues]:
            if queue:  # one that another thread has just closed is not waited for
                waited(raw.km_stream_synchronize_timeout, queue)
        return raw.km_context_synchronize(self._handle)

    def _waited(self, status: int) -> bool:
        """Ends a call that waits: raises its failure, or what the function for output raised."""
        raised, self._raised = self._raised, None
        if status not in (abi.KM_SUCCESS, abi.KM_TIMEOUT):
            raise failure(status) from raised
        if raised is not None:
            raise raised
        return status == abi.KM_SUCCESS

    def _forget_queue(self) -> None:
        queue, self._queue = self._queue, 0
        if queue:
            raw.km_stream_destroy(queue)

    def _let_go(self, child: Object) -> None:
        """An object that is not closed with the context."""
        self._children.discard(child)
        child._context = None

    def _release(self, owner: Any) -> None:
        """Drops the owner of memory once no kernel uses it: at the end of the next call that waits
        if this one may not."""
        if not self._handle or self._wait() == abi.KM_SUCCESS:
            return
        self._kept.append(owner)


def _writer(context: weakref.ref[Context]) -> Callable[[Any, int, int], None]:
    """The callback for what kernels print. It raises nothing: the call that waits does."""

    def write(_user: Any, text: int, size_bytes: int) -> None:
        target = context()
        if target is None or target._output is None:
            return
        try:
            target._output(ctypes.string_at(text, size_bytes).decode(errors="replace"))
        except BaseException as raised:  # noqa: BLE001 (also KeyboardInterrupt)
            target._raised = raised

    return write
