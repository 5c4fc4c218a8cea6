// Invariants that are checked at run time in builds with KM_ASSERTIONS=ON: debug, sanitizers,
// fuzzers and CI. They cost nothing in a release.
#pragma once

#ifndef KM_ASSERTIONS
#error "the target must define KM_ASSERTIONS as 0 or 1, or its assertions would silently be off"
#endif

namespace km {

/// Prints the violated invariant with its location and meaning, and aborts, because a state that
/// breaks an invariant must not reach results.
[[noreturn]] void assertion_failed(const char* condition, const char* message, const char* file,
                                   int line) noexcept;

}  // namespace km

#if KM_ASSERTIONS
#define KM_ASSERT(condition, message)                  \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::km::assertion_failed(#condition, message, __FILE__, __LINE__))
#else
// Without assertions the condition is compiled, so that it stays valid code, but never evaluated.
#define KM_ASSERT(condition, message) static_cast<void>(sizeof(static_cast<bool>(condition)))
#endif
