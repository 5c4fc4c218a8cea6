// The frame around every exported function of the CUDA driver: its preconditions, the translation
// of the core's errors into CUresults, and logging.
#pragma once

#include <atomic>

#include "base/callback/contained_call.h"
#include "base/process/fork.h"
#include "base/result.h"
#include "base/thread/cancellation.h"
#include "cuda/driver.h"
#include "dropin/cuda/frame/driver_log.h"
#include "dropin/frame/call.h"

namespace km::dropin {

using namespace cu;  // NOLINT: its names are the point

/// Translates an error of the core into a CUresult and logs its text.
CUresult result_of(const Error& error) noexcept;
/// Logs the text of an error that this library found and returns `result`.
[[gnu::format(printf, 2, 3)]] CUresult fail(CUresult result, const char* format, ...) noexcept;

// State that every call checks.
inline std::atomic<bool> driver_is_ready{false};  // cuInit has succeeded
/// Finds out why require_ready() fails: no cuInit yet, or a forked process.
CUresult not_ready() noexcept;
/// Returns CUDA_SUCCESS if cuInit has succeeded in this process.
inline CUresult require_ready() noexcept {
  if (driver_is_ready.load(std::memory_order_acquire) && !is_forked()) [[likely]]
    return CUDA_SUCCESS;
  return not_ready();
}

/// Describes the driver to the frame that all libraries share.
struct DriverLibrary : frame::Library {
  using Status = CUresult;
  static constexpr Status kOutOfMemory = CUDA_ERROR_OUT_OF_MEMORY;
  static constexpr Status kUnexpected = CUDA_ERROR_UNKNOWN;
  static constexpr bool kNamesReasons = false;
  static const char* name_of(CUresult result) noexcept;
  static const char* text_of(CUresult result) noexcept;
  static bool is_answer(const char* function, CUresult result) noexcept;
  static void tell(const char* text) noexcept;
  /// Passes a failed call's texts to the program's log listeners.
  static void ended(const char*, CUresult result) {
    if (result != CUDA_SUCCESS) [[unlikely]]
      tell_listeners();
  }
};

/// Runs the body of an exported function, even before cuInit. A callback of the program may ask to
/// end its thread; the thread then ends here, when no lock is held.
template <class Body>
CUresult guard_anywhere(const char* function, Body&& body) {
  CUresult result;
  {
    const NoCancellation postponed;
    result = frame::call<DriverLibrary>(function, body);
  }
  end_thread_if_begun();
  return result;
}

/// Runs the body of an exported function that takes locks, even before cuInit. It fails in a forked
/// child, where a thread that no longer exists may hold a lock.
template <class Body>
CUresult guard_before_init(const char* function, Body&& body) {
  return guard_anywhere(function, [&] { return is_forked() ? not_ready() : body(); });
}

/// Runs the body if the driver is ready; otherwise returns the reason why it is not.
template <class Body>
CUresult if_ready(Body&& body) {
  const CUresult ready = require_ready();
  return ready == CUDA_SUCCESS ? body() : ready;
}

/// Runs the body of an exported function that needs cuInit.
template <class Body>
CUresult guard(const char* function, Body&& body) {
  return guard_anywhere(function, [&] { return if_ready(body); });
}

/// Like guard(), but without postponing cancellation: for functions that take less than a
/// microsecond and reach no cancellation point, or that postpone cancellation themselves.
template <class Body>
CUresult guard_light(const char* function, Body&& body) {
  const CUresult result = frame::call<DriverLibrary>(function, [&] { return if_ready(body); });
  end_thread_if_begun();
  return result;
}

}  // namespace km::dropin

/// Returns from the enclosing function if the expression is not CUDA_SUCCESS.
#define CU_TRY(expression) LIB_TRY(expression)

/// CU_TRY for a Status of the core.
#define CU_CHECK(expression)                               \
  do {                                                     \
    if (const auto cu_status = (expression); !cu_status) { \
      return ::km::dropin::result_of(cu_status.error());   \
    }                                                      \
  } while (0)

/// Declares `declaration` with the value of a Result<T> of the core, or returns its CUresult.
#define CU_ASSIGN(declaration, expression) \
  CU_ASSIGN_(KM_CONCAT(cu_r_, __LINE__), declaration, expression)
#define CU_ASSIGN_(temporary, declaration, expression)               \
  auto temporary = (expression);                                     \
  if (!temporary) return ::km::dropin::result_of(temporary.error()); \
  declaration = std::move(*temporary)

/// Returns CUDA_ERROR_INVALID_VALUE from the enclosing function if a pointer argument is null.
#define CU_REQUIRE(pointer) \
  if ((pointer) == nullptr) \
  return ::km::dropin::fail(::km::cu::CUDA_ERROR_INVALID_VALUE, "%s is null", #pointer)
