// Lines of the log about calls of a drop-in library: one for each call, and why one fails.
#pragma once

#include <atomic>
#include <cstdarg>

namespace km::frame {

/// The name of the exported function that this thread is in, for messages.
const char*& current_function() noexcept;

/// For `kernelmill exec --log`: one line for each call.
inline std::atomic<bool> calls_are_logged{true};  // or it is not known yet
void log_call(const char* function, const char* status) noexcept;

/// Keeps reasons for the report of the first failure; null: nothing reports (first_failure.h).
using ReasonKeeper = void (*)(const char* text) noexcept;
inline std::atomic<ReasonKeeper> reason_keeper{nullptr};

/// Logs why the call is about to fail.
void tell_reason(const char* text) noexcept;
/// tell_reason(), after the name of the current function.
[[gnu::format(printf, 1, 2)]] void explain(const char* format, ...) noexcept;
void explain_list(const char* format, va_list arguments) noexcept;

}  // namespace km::frame
