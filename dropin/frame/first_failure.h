// The report of the first failed call and its reason, for users who run programs under `kernelmill
// exec`.
#pragma once

#include <atomic>

namespace km::frame {

/// True until a failure has been shown. Every failed call checks it.
inline std::atomic<bool> failures_are_shown{false};

/// Writes the failed call and its reason to standard error, once for all processes under one
/// `kernelmill exec`. `text` is the status's meaning, for a call without a recorded reason; null if
/// there is none.
void show_failure(const char* function, const char* status, const char* text) noexcept;
/// Discards the recorded reason of a failure that is not to be shown.
void forget_reason() noexcept;
/// Records that the failure has been shown in another way.
void note_shown_failure() noexcept;
/// Writes a hint for the program's developer to standard error; each text once per process, and 16
/// of them at most.
void show_hint(const char* text) noexcept;

}  // namespace km::frame
