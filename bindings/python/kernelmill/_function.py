"""Kernels: what they take, and their launches."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._arguments import Arguments
from ._library import check, counted, number, raw, read_text
from ._objects import Object
from ._parameters import Parameter
from .generated import abi

if TYPE_CHECKING:
    from ._context import Context
    from ._stream import Stream

ATTRIBUTES: dict[str, int] = {name.removeprefix("KM_FUNCTION_ATTRIBUTE_").lower(): value
              for name, value in vars(abi).items()
              if name.startswith("KM_FUNCTION_ATTRIBUTE_") and value}


def extents(given: Any, what: str) -> tuple[int, int, int]:
    """A grid or a block: a number, or one to three of them."""
    parts = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    if not 1 <= len(parts) <= 3:
        raise ValueError(f"{what} has {len(parts)} numbers; give one to three")
    sizes = [counted(part, what) for part in parts]
    return (sizes + [1, 1])[0], (sizes + [1, 1])[1], (sizes + [1, 1])[2]


def _attribute_number(name: str) -> int:
    if name not in ATTRIBUTES:
        raise ValueError(f"there is no attribute {name!r}; there are {', '.join(ATTRIBUTES)}")
    return ATTRIBUTES[name]


class Function(Object):
    """A kernel: f[grid, block](arguments ...) launches it. Module.function() makes one."""

    _kind = "function"

    def __init__(self, context: Context, handle: int, asked: str) -> None:
        self._own(handle, context)
        count = number(ctypes.c_uint32, raw.km_function_param_count, handle)
        self._name = read_text(raw.km_function_name, handle)
        self._parameters = tuple(Parameter.of(handle, index) for index in range(count))
        self._asked = asked  # messages say "scale<float>" where the program does
        self._arguments = Arguments(asked, self._parameters)

    @property
    def context(self) -> Context:
        """The context that the kernel's module is loaded in."""
        assert self._context is not None
        return self._context

    @property
    def name(self) -> str:
        """The kernel's name in the PTX."""
        return self._name

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What the kernel takes."""
        return self._parameters

    def __repr__(self) -> str:
        listed = ", ".join(each.type for each in self._parameters)
        return f"<kernelmill.Function {self._asked}({listed})>"

    def __getitem__(self, key: Any) -> Launch:
        """A launch with this grid and block: f[grid, block], f[grid, block, stream],
        f[grid, block, stream, shared_bytes]."""
        if not isinstance(key, tuple) or not 2 <= len(key) <= 4:
            raise TypeError("give a grid and a block, then a stream and the bytes of dynamic "
                            "shared memory if there are any: f[grid, block](...)")
        stream = key[2] if len(key) > 2 else None
        return Launch(self, key[0], key[1], stream, key[3] if len(key) > 3 else 0)

    def for_elements(self, count: int, block: int = 256, stream: Stream | None = None) -> Launch:
        """A launch with a thread for each of so many elements, and some more: f.for_elements(n)(
        ...). The kernel has to leave the last block's other threads out."""
        threads = counted(block, "block")
        if threads == 0:
            raise ValueError("block is 0; give the threads of a block")
        blocks = -(-counted(count, "count", 2**63 - 1) // threads)
        return Launch(self, max(blocks, 1), threads, stream, 0)

    def launch(self, *arguments: Any, grid: Any, block: Any, stream: Stream | None = None,
               shared_bytes: int = 0) -> None:
        """The same as f[grid, block, stream, shared_bytes](arguments ...)."""
        Launch(self, grid, block, stream, shared_bytes)(*arguments)

    def __call__(self, *_: Any) -> None:
        raise TypeError(f"{self._asked} needs a grid and a block: {self._asked}[grid, block](...)")

    def attribute(self, name: str) -> int:
        """A property of the kernel: "registers", "shared_bytes", "max_threads_per_block" ..."""
        return number(ctypes.c_int64, raw.km_function_attribute_get, self.handle,
                      _attribute_number(name))

    def set_attribute(self, name: str, value: int) -> None:
        """Sets a property that can be set: "max_dynamic_shared_bytes" allows launches with more
        dynamic shared memory than the device gives without being asked."""
        wanted = counted(value, "value", 2**63 - 1)
        check(raw.km_function_attribute_set(self.handle, _attribute_number(name), wanted))

    def best_block(self, shared_bytes: int = 0) -> tuple[int, int]:
        """The threads of a block that keep the device busiest, and the blocks that fill it."""
        threads, blocks = ctypes.c_uint32(), ctypes.c_uint32()
        check(raw.km_function_best_block(self.handle, counted(shared_bytes, "shared_bytes"), None,
                                         None, 0, ctypes.byref(threads), ctypes.byref(blocks)))
        return threads.value, blocks.value

    def prepare(self, block: Any) -> None:
        """Makes machine code now, so that the first launch with such blocks need not wait."""
        check(raw.km_function_prepare(self.handle, *extents(block, "block")))


@dataclass
class Launch:
    """A kernel with its grid and block, to be called with the arguments any number of times."""

    function: Function
    grid: Any
    block: Any
    stream: Stream | None
    shared_bytes: int

    def __post_init__(self) -> None:
        self._config = abi.km_launch_config()
        self._config.grid = extents(self.grid, "grid")
        self._config.block = extents(self.block, "block")
        self._config.shared_bytes = counted(self.shared_bytes, "shared_bytes", 2**63 - 1)
        self.function.context._stream_handle(self.stream)  # says at once if it is none
        self._place = ctypes.byref(self._config)

    def __call__(self, *arguments: Any) -> None:
        """Queues the kernel. It waits for it where an array of the host is given, which is copied
        to the device before, and back after unless the kernel takes it as const."""
        function = self.function
        context = function.context
        own = function.handle
        stream = context._stream_handle(self.stream)
        packed = function._arguments.pack(arguments, context, stream)
        check(raw.km_launch_kernel_operands(stream, own, self._place, packed.values, packed.size,
                                            packed.operands, packed.count))
        if packed.copies:
            packed.copy_back(context, stream)
