// For programs under `kernelmill exec`: that this library was loaded, and why the first call has
// failed.
#pragma once

#include <atomic>

#include "cuda/driver.h"

namespace km::dropin {

/// True while the reason of a failed call is still to be shown; every failed call asks.
inline std::atomic<bool> failures_are_shown{false};

/// The reason of the call that is about to fail on this thread.
void note_reason(const char* text) noexcept;
/// Shows the call with its reason on standard error, once for all programs of a `kernelmill exec`.
void show_failure(const char* function, cu::CUresult result) noexcept;
/// Shows a hint for the program's maker on standard error, once in a process that `kernelmill exec`
/// runs.
void show_hint(const char* text) noexcept;
/// The reason has been shown in another way.
void note_shown_failure() noexcept;

}  // namespace km::dropin
