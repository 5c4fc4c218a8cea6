// The frame around every exported function: it keeps exceptions in and sets the text of failures.
#pragma once

#include <new>
#include <stdexcept>

#include "api/call.h"
#include "base/callback/contained_call.h"
#include "base/process/fork.h"
#include "base/thread/cancellation.h"

namespace km {

/// Runs the body of an exported function, also in a forked child. It is only for calls that use no
/// object and no thread of the library.
template <class Body>
km_status guard_anywhere(const char* function, Body&& body) noexcept {
  Call call(function);
  try {
    Status status = body(call);
    if (status) [[likely]]
      return KM_SUCCESS;
    return call.fail(status.error());
  } catch (const std::bad_alloc&) {
    return call.fail(KM_ERROR_OUT_OF_HOST_MEMORY, "the host is out of memory");
  } catch (const std::length_error&) {
    return call.fail(KM_ERROR_OUT_OF_HOST_MEMORY,
                     "a size or count of this call needs more memory than any host has");
  } catch (...) {
    return call.fail(KM_ERROR_INTERNAL, "an unexpected exception was thrown inside the library");
  }
}

/// Runs the body of an exported function without postponing cancellation, which costs too much in
/// calls that take less than a microsecond. The body must not reach a cancellation point, or must
/// postpone cancellation itself.
template <class Body>
km_status guard_light(const char* function, Body&& body) noexcept {
  if (is_forked()) [[unlikely]] {
    return Call(function).fail(KM_ERROR_FORKED,
                               "this process was forked from one that used the library; use it in "
                               "the parent only, or call exec first");
  }
  return guard_anywhere(function, std::forward<Body>(body));
}

/// Runs the body of an exported function.
template <class Body>
km_status guard(const char* function, Body&& body) noexcept {
  const NoCancellation postponed;
  return guard_light(function, std::forward<Body>(body));
}

/// Ends an exported function within which callbacks may run on the caller's thread and begin to end
/// it. Only such functions are not noexcept, because ending the thread unwinds the caller.
inline km_status then_end_thread(km_status status) {
  end_thread_if_begun();
  return status;
}

}  // namespace km

/// Declares `variable` as the object of `handle`, or returns from the function with the reason.
#define KM_GET(variable, call, handle)                \
  auto* const variable = (call).get(handle, #handle); \
  if (variable == nullptr) return (call).take_error()

/// Returns an error when the pointer argument is null.
#define KM_REQUIRE(pointer)                                   \
  if ((pointer) == nullptr)                                   \
  return ::km::make_error(KM_ERROR_INVALID_ARGUMENT, #pointer \
                          " is "                              \
                          "null")
