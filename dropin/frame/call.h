// The frame around every exported function of the drop-in libraries: what its body throws becomes a
// status of the library, the end of a thread passes through, and failures are told.
//
// A library describes itself by a type that derives from `Library`:
//   Status                    its type of statuses, 0 of which is success
//   kOutOfMemory, kUnexpected the statuses for what bodies throw
//   kStatuses, kOtherStatus   the statuses that stand for results of the driver: a table of
//                             StatusOfResult, and that for all others
//   name_of(Status)           for messages; null: the number is none of the library's statuses
// and, beside these, by whatever it has instead of the members of `Library`.
#pragma once

#include <cxxabi.h>

#include <cstdarg>
#include <new>
#include <stdexcept>

#include "cuda/driver.h"
#include "dropin/frame/first_failure.h"
#include "dropin/frame/reason.h"

namespace km::frame {

/// Runs `body`. What it throws goes to `on_fault` as a text, with true if memory was missing, and
/// becomes its result. A thread that ends inside the body (pthread_exit or a cancellation in a
/// function of the program that the body calls) is not held up.
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

/// The status that stands for a result of the driver.
template <class Status>
struct StatusOfResult {
  cu::CUresult result;
  Status status;
};

/// The members that most libraries take as they are.
struct Library {
  /// Messages begin with the function's name, which costs each call a word of the thread's memory.
  static constexpr bool kNamesReasons = true;
  /// The first failed call is shown to those who run the program by `kernelmill exec`.
  static constexpr bool kShowsFailures = true;
  /// True for a failure that programs expect: it is not shown.
  static bool is_answer(const char*, int) noexcept { return false; }
  /// The meaning of a status, for failures without a known reason; null: none.
  static const char* text_of(int) noexcept { return nullptr; }
  /// Tells why a body has thrown.
  static void tell(const char* text) noexcept { explain("%s", text); }
  /// Runs after each call.
  static void ended(const char*, int) {}
};

/// The status that stands for what the driver says.
template <class L>
constexpr typename L::Status status_of(cu::CUresult result) noexcept {
  for (const StatusOfResult<typename L::Status>& each : L::kStatuses) {
    if (each.result == result) return each.status;
  }
  return L::kOtherStatus;
}

/// Tells that a call has failed to those who run the program.
template <class L>
void tell_failure(const char* function, typename L::Status status) noexcept {
  if (L::is_answer(function, status)) {
    forget_reason();
  } else {
    show_failure(function, L::name_of(status), L::text_of(status));
  }
}

/// Runs the body of an exported function of the library.
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

/// Fails with a status, and logs why.
template <class Status>
[[gnu::format(printf, 2, 3)]] Status fail(Status status, const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  explain_list(format, arguments);
  va_end(arguments);
  return status;
}

}  // namespace km::frame

/// Returns a status that is not success from the enclosing function.
#define LIB_TRY(expression)                                                 \
  do {                                                                      \
    if (const auto lib_status = (expression); lib_status != 0) [[unlikely]] \
      return lib_status;                                                    \
  } while (0)
/// LIB_TRY for a call of the driver, by the library's status_of().
#define LIB_CHECK(expression) LIB_TRY(status_of(expression))
/// Returns the library's invalid() from the enclosing function if an argument is null.
#define LIB_REQUIRE(pointer) \
  if ((pointer) == nullptr) return invalid("%s is null", #pointer)
