// Log lines about a drop-in library's calls: one per call, and one with the reason if it fails.
#pragma once

#include <atomic>
#include <cstdarg>

namespace km::frame {

/// The name of the exported function that this thread is in, for messages.
const char*& current_function() noexcept;

/// For `kernelmill exec --log`, which logs one line per call.
inline std::atomic<bool> calls_are_logged{true};  // or still unknown
void log_call(const char* function, const char* status) noexcept;

/// A function that keeps reasons for the report of the first failure (first_failure.h); null: no
/// report.
using ReasonKeeper = void (*)(const char* text) noexcept;
inline std::atomic<ReasonKeeper> reason_keeper{nullptr};

/// Logs the reason why the current call is about to fail.
void tell_reason(const char* text) noexcept;
/// The latest reason of this thread; empty if there was none.
const char* last_reason() noexcept;
/// Like tell_reason(), with the current function's name in front.
[[gnu::format(printf, 1, 2)]] void explain(const char* format, ...) noexcept;
void explain_list(const char* format, va_list arguments) noexcept;

}  // namespace km::frame
