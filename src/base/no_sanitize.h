// Functions that sanitizers leave alone.
#pragma once

/// For functions that are left without returning, or that must not call into a sanitizer.
#if defined(__clang__)
#define KM_NO_SANITIZE __attribute__((disable_sanitizer_instrumentation))
#else
#define KM_NO_SANITIZE __attribute__((no_sanitize("address", "thread", "undefined")))
#endif
