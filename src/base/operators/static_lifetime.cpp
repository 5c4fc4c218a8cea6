// Keeps static objects of a shared library that links this file from being destroyed. The compiler
// registers their destructors with __cxa_atexit; the hidden definition below replaces the C
// library's and registers nothing. Destructors would run while other threads of the process, which
// exit() does not stop, are still inside the library, above all in LLVM, whose tables are static
// objects. Work for the end of the process is registered with run_at_exit().

extern "C" int __cxa_atexit(void (*)(void*), void*,
                            void*) {  // NOLINT(bugprone-reserved-identifier)
  return 0;
}
