#!/usr/bin/env python3
"""A Python program as a host: `python_host.py LIBRARY` runs each case in a process of its own.

At its end Python ends the threads that ask for its lock, by pthread_exit (up to 3.13) or by never
giving it: callbacks under way then neither abort the process nor keep it from ending. And
faulthandler, enabled after the library's first use, leaves faults of kernels errors and keeps its
own."""
import ctypes
import os
import signal
import subprocess
import sys
import time

PTX = (
    b".version 7.8\n.target sm_80\n.address_size 64\n"
    b".extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 arguments);\n"
    b".global .align 1 .b8 text[3] = {104, 10, 0};\n"
    b".visible .entry fault() { .reg .b64 %a; mov.u64 %a, 8; st.global.u32 [%a], 1; ret; }\n"
    b".visible .entry greet() { .reg .b64 %a; .reg .b32 %r; mov.u64 %a, text;\n"
    b"cvta.global.u64 %a, %a; { .param .b64 f; st.param.b64 [f], %a;\n"
    b".param .b64 v; st.param.b64 [v], 0; .param .b32 n;\n"
    b"call.uni (n), vprintf, (f, v); ld.param.b32 %r, [n]; } ret; }\n"
)
ILLEGAL_ADDRESS = 400


class Host:
    """The few calls that the cases make."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.device = self.make("km_device_open", b"cpu")
        self.context = self.make("km_context_create", self.device)
        self.stream = self.make("km_stream_create", self.context, 0, 0)
        self.load()

    def load(self):
        size = ctypes.c_uint64(len(PTX))
        self.module = self.make("km_module_load_ptx", self.context, PTX, size, b"host.ptx")

    def call(self, name, *arguments):
        return getattr(self.library, name)(*arguments)

    def make(self, name, *arguments):
        made = ctypes.c_uint64()
        status = self.call(name, *arguments, ctypes.byref(made))
        assert status == 0, (name, status)
        return ctypes.c_uint64(made.value)

    def launch(self, kernel):
        function = self.make("km_module_function", self.module, kernel)
        config = (ctypes.c_uint32 * 8)(1, 1, 1, 1, 1, 1, 0, 0)
        zero = ctypes.c_uint64(0)
        status = self.call(
            "km_launch_kernel", self.stream, function, config, None, zero, None, zero
        )
        assert status == 0, status

    def expect_kernel_fault(self):
        self.launch(b"fault")
        assert self.call("km_stream_synchronize", self.stream) == ILLEGAL_ADDRESS
        assert self.call("km_context_reset", self.context) == 0
        self.stream = self.make("km_stream_create", self.context, 0, 0)
        self.load()


kept = []  # freed when the interpreter ends, as the globals of programs are


def end_in_callbacks(host, pause_s):
    """Thousands of callbacks are due when the program ends."""
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32)
    callback = kind(lambda data, status: time.sleep(0.001))
    for _ in range(2000):
        host.call("km_stream_add_callback", host.stream, callback, None)
    time.sleep(pause_s)
    kept.append(callback)


def end_in_output(host, pause_s):
    """A daemon thread waits for the stream, and runs a callback for what kernels print."""
    import threading

    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64)
    callback = kind(lambda data, text, size: time.sleep(0.0005))
    assert host.call("km_context_set_output", host.context, callback, None) == 0

    def wait():
        while True:
            host.launch(b"greet")
            host.call("km_stream_synchronize", host.stream)

    threading.Thread(target=wait, daemon=True).start()
    time.sleep(pause_s)
    kept.append(callback)


def faulthandler_later(host, _):
    import faulthandler

    host.expect_kernel_fault()
    for _ in range(3):
        faulthandler.enable()
        host.expect_kernel_fault()
        faulthandler.disable()
        host.expect_kernel_fault()
    faulthandler.enable()
    host.expect_kernel_fault()
    print("kernels' faults are errors", flush=True)
    ctypes.string_at(8)


def faulthandler_unseen(_, __):
    """Enabled after the last call of the library: its own fault takes its usual course."""
    import faulthandler

    faulthandler.enable()
    ctypes.string_at(8)


CASES = {
    "end_in_callbacks": (end_in_callbacks, [0, 0.001, 0.01, 0.03], 0),
    "end_in_output": (end_in_output, [0, 0.01, 0.03], 0),
    "faulthandler_later": (faulthandler_later, [0], -signal.SIGSEGV),
    "faulthandler_unseen": (faulthandler_unseen, [0], -signal.SIGSEGV),
}


def run(path, name, pause_s, expected):
    arguments = [sys.executable, os.path.abspath(__file__), path, name, str(pause_s)]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=60)
    is_right = done.returncode == expected
    if name == "faulthandler_later":
        is_right = is_right and "faults are errors" in done.stdout
    if expected != 0:
        is_right = is_right and done.stderr.count("Fatal Python error: Segmentation fault") == 1
    if not is_right:
        print(f"{name} ({pause_s} s): {done.returncode}, not {expected}")
        print(done.stdout + done.stderr)
    return is_right


def main():
    if len(sys.argv) == 4:
        CASES[sys.argv[2]][0](Host(sys.argv[1]), float(sys.argv[3]))
        return 0
    results = [
        run(sys.argv[1], name, pause_s, expected)
        for name, (_, pauses, expected) in CASES.items()
        for pause_s in pauses
        for _ in range(2)
    ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
