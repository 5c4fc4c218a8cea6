// The frame around every exported function of the CUDA driver: what it needs to have happened
// before, how the core's errors become CUresults, what is logged.
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

/// The CUresult for an error of the core, whose text is logged.
CUresult result_of(const Error& error) noexcept;
/// Fails with an error that this library found, and logs the text.
[[gnu::format(printf, 2, 3)]] CUresult fail(CUresult result, const char* format, ...) noexcept;

// State that every call looks at.
inline std::atomic<bool> driver_is_ready{false};  // cuInit has succeeded
/// Why it is not CUDA_SUCCESS that require_ready() gives.
CUresult not_ready() noexcept;
/// CUDA_SUCCESS once cuInit has succeeded, in this process.
inline CUresult require_ready() noexcept {
  if (driver_is_ready.load(std::memory_order_acquire) && !is_forked()) [[likely]]
    return CUDA_SUCCESS;
  return not_ready();
}

/// The driver for the frame of its functions.
struct DriverLibrary : frame::Library {
  using Status = CUresult;
  static constexpr Status kOutOfMemory = CUDA_ERROR_OUT_OF_MEMORY;
  static constexpr Status kUnexpected = CUDA_ERROR_UNKNOWN;
  static constexpr bool kNamesReasons = false;
  static const char* name_of(CUresult result) noexcept;
  static const char* text_of(CUresult result) noexcept;
  static bool is_answer(const char* function, CUresult result) noexcept;
  static void tell(const char* text) noexcept;
  /// Has the program's listeners hear of a failure.
  static void ended(const char*, CUresult result) {
    if (result != CUDA_SUCCESS) [[unlikely]]
      tell_listeners();
  }
};

/// Runs the body of an exported function, also before cuInit. Functions of the program that it
/// calls may begin to end the thread: it ends here.
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

/// Runs the body of an exported function that takes locks, also before cuInit.
template <class Body>
CUresult guard_before_init(const char* function, Body&& body) {
  return guard_anywhere(function, [&] { return is_forked() ? not_ready() : body(); });
}

/// The body, or why it cannot be run.
template <class Body>
CUresult if_ready(Body&& body) {
  const CUresult ready = require_ready();
  return ready == CUDA_SUCCESS ? body() : ready;
}

/// Runs the body of an exported function.
template <class Body>
CUresult guard(const char* function, Body&& body) {
  return guard_anywhere(function, [&] { return if_ready(body); });
}

/// call() for functions that take less than a microsecond and reach no cancellation point, or
/// postpone cancellation themselves where they do.
template <class Body>
CUresult guard_light(const char* function, Body&& body) {
  const CUresult result = frame::call<DriverLibrary>(function, [&] { return if_ready(body); });
  end_thread_if_begun();
  return result;
}

}  // namespace km::dropin

/// Returns what is not CUDA_SUCCESS from the enclosing function.
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

/// CUDA_ERROR_INVALID_VALUE where a pointer argument is null.
#define CU_REQUIRE(pointer) \
  if ((pointer) == nullptr) \
  return ::km::dropin::fail(::km::cu::CUDA_ERROR_INVALID_VALUE, "%s is null", #pointer)
