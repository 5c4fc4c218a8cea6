// Static objects of a shared library that links this file are never destroyed. The compiler
// registers their destructors with __cxa_atexit; the definition below, which nothing outside the
// library sees, takes the place of the C library's and registers nothing. Destructors would run
// while other threads of the process, which exit() does not stop, are still inside the library:
// code generators above all, whose tables are static objects of LLVM. What has to happen at the end
// of the process is registered with run_at_exit().

extern "C" int __cxa_atexit(void (*)(void*), void*,
                            void*) {  // NOLINT(bugprone-reserved-identifier)
  return 0;
}
