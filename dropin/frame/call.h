// The frame around every exported function of the drop-in libraries: exceptions in its body become
// a status of the library, thread termination passes through, and failures are reported.
//
// A library describes itself by a type that derives from `Library`:
//   Status                    its status type, in which 0 means success
//   kOutOfMemory, kUnexpected the statuses for exceptions
//   kStatuses, kOtherStatus   the statuses for the driver's results: a table of StatusOfResult, and
//                             the status for all other results
//   name_of(Status)           for messages; null if the number is not a status of the library
// The type may also replace members of `Library` by its own.
#pragma once

#include <cxxabi.h>

#include <cstdarg>
#include <new>
#include <stdexcept>

#include "cuda/driver.h"
#include "dropin/frame/first_failure.h"
#include "dropin/frame/reason.h"

namespace km::frame {

/// Runs `body`. If it throws, `on_fault` receives the exception's text and whether memory ran out,
/// and its return value becomes the result. The unwinding of a thread that ends inside the body
/// (pthread_exit or a cancellation in a callback of the program) passes through.
template <class Result, class Body, class OnFault>
Result run(Body&& body, OnFault&& on_fault) {
  try {
    return body();
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (const std::bad_alloc&) {
    return on_fault(true, "the host is out of memory");
  } catch (const std::length_error&) {
    return on_fault(true, "the call needs more memory than any host has");
  } catch (...) {
    return on_fault(false, "an unexpected exception was thrown inside the library");
  }
}

/// The status that corresponds to one of the driver's results.
template <class Status>
struct StatusOfResult {
  cu::CUresult result;
  Status status;
};

/// Defaults for the members that most libraries share.
struct Library {
  /// Messages begin with the function's name, for which each call writes one thread-local word.
  static constexpr bool kNamesReasons = true;
  /// Under `kernelmill exec` the first failed call is shown to the user.
  static constexpr bool kShowsFailures = true;
  /// True for a failure that programs expect, which is not shown.
  static bool is_answer(const char*, int) noexcept { return false; }
  /// The meaning of a status, for failures without a recorded reason; null if there is none.
  static const char* text_of(int) noexcept { return nullptr; }
  /// Reports why a body threw an exception.
  static void tell(const char* text) noexcept { explain("%s", text); }
  /// Called after each call.
  static void ended(const char*, int) {}
};

/// Converts a result of the driver to the library's status.
template <class L>
constexpr typename L::Status status_of(cu::CUresult result) noexcept {
  for (const StatusOfResult<typename L::Status>& each : L::kStatuses) {
    if (each.result == result) return each.status;
  }
  return L::kOtherStatus;
}

/// Shows a failed call to the user who runs the program.
template <class L>
void tell_failure(const char* function, typename L::Status status) noexcept {
  if (L::is_answer(function, status)) {
    forget_reason();
  } else {
    show_failure(function, L::name_of(status), L::text_of(status));
  }
}

/// Runs the body of one of the library's exported functions.
template <class L, class Body>
typename L::Status call(const char* function, Body&& body) {
  using Status = typename L::Status;
  if constexpr (L::kNamesReasons) current_function() = function;
  const Status status = run<Status>(body, [](bool is_memory, const char* text) -> Status {
    L::tell(text);
    return is_memory ? L::kOutOfMemory : L::kUnexpected;
  });
  if (calls_are_logged.load(std::memory_order_relaxed)) [[unlikely]] {
    log_call(function, L::name_of(status));
  }
  if constexpr (L::kShowsFailures) {
    if (status != 0 && failures_are_shown.load(std::memory_order_relaxed)) [[unlikely]] {
      tell_failure<L>(function, status);
    }
  }
  L::ended(function, status);
  return status;
}

/// Logs the reason of a failure and returns the status.
template <class Status>
[[gnu::format(printf, 2, 3)]] Status fail(Status status, const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  explain_list(format, arguments);
  va_end(arguments);
  return status;
}

/// fail() with one status, for the failures that a library has at many places. A function object,
/// because only a function with C's variable arguments has its format checked, and those do not
/// forward to one another.
template <auto kStatus>
struct Failure {
  /// Logs the reason of a failure and returns the status.
  [[gnu::format(printf, 2, 3)]] auto operator()(const char* format, ...) const noexcept {
    va_list arguments;
    va_start(arguments, format);
    explain_list(format, arguments);
    va_end(arguments);
    return kStatus;
  }
};

}  // namespace km::frame

/// Returns from the enclosing function if the status is not success.
#define LIB_TRY(expression)                                                 \
  do {                                                                      \
    if (const auto lib_status = (expression); lib_status != 0) [[unlikely]] \
      return lib_status;                                                    \
  } while (0)
/// LIB_TRY for a call of the driver, whose result the library's status_of() converts.
#define LIB_CHECK(expression) LIB_TRY(status_of(expression))
/// Returns the library's invalid() from the enclosing function if an argument is null.
#define LIB_REQUIRE(pointer) \
  if ((pointer) == nullptr) return invalid("%s is null", #pointer)
