#include "dropin/cuda/frame/call.h"

#include <cstdarg>
#include <cstdio>

#include "base/cuda/cuda_results.h"
#include "base/log.h"

namespace km::dropin {
namespace {

/// Writes the reason of a failure to the log, and keeps it for those who ask for it later.
void tell_reason(const char* text) {
  log(LogLevel::kInfo, "cuda", "%s", text);
  keep_log(text);
  if (failures_are_shown.load(std::memory_order_relaxed)) note_reason(text);
}

/// Errors that the core itself words in terms of CUDA: those about captures.
bool has_native_result(const Error& error) {
  switch (error.status) {
    case KM_ERROR_NOT_PERMITTED:
    case KM_ERROR_CAPTURE_UNSUPPORTED:
    case KM_ERROR_CAPTURE_INVALIDATED:
    case KM_ERROR_CAPTURE_UNJOINED:
      return error.native_code != 0;
    default:
      return false;
  }
}

}  // namespace

CUresult result_of(const Error& error) noexcept {
  if (error.status != KM_NOT_READY) tell_reason(error.message.c_str());
  if (has_native_result(error)) return static_cast<CUresult>(error.native_code);
  return cuda_of_status(error.status).value_or(CUDA_ERROR_UNKNOWN);
}

CUresult fail(CUresult result, const char* format, ...) noexcept {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  tell_reason(text);
  return result;
}

CUresult not_ready() noexcept {
  if (is_forked()) {
    return fail(CUDA_ERROR_NOT_INITIALIZED,
                "this process was forked from one that used CUDA; call exec first");
  }
  return fail(CUDA_ERROR_NOT_INITIALIZED, "cuInit was not called, or has failed");
}

void log_call(const char* function, CUresult result) noexcept {
  if (!log_enabled(LogLevel::kDebug, "cuda")) {
    calls_are_logged.store(false, std::memory_order_relaxed);  // settings never change
    return;
  }
  log(LogLevel::kDebug, "cuda", "%s: %s", function, cuda_result_name(result));
}

}  // namespace km::dropin
