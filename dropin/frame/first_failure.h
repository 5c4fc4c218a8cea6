// The report to people who run programs under `kernelmill exec`: why the first call has failed.
#pragma once

#include <atomic>

namespace km::frame {

/// True while the reason of a failed call is still to be shown; every failed call asks.
inline std::atomic<bool> failures_are_shown{false};

/// Shows the call with its reason on standard error, once for all programs of a `kernelmill exec`.
/// `text` says what the status means, for a call without a known reason; null: nothing does.
void show_failure(const char* function, const char* status, const char* text) noexcept;
/// The failure of the call is none to be shown: its reason is forgotten.
void forget_reason() noexcept;
/// The reason has been shown in another way.
void note_shown_failure() noexcept;
/// Shows a hint for the program's maker on standard error, once in a process that `kernelmill exec`
/// runs.
void show_hint(const char* text) noexcept;

}  // namespace km::frame
