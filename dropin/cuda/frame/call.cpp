#include "dropin/cuda/frame/call.h"

#include <cstdarg>
#include <cstdio>
#include <string_view>

#include "base/cuda/cuda_results.h"
#include "dropin/cuda/frame/error_text.h"

namespace km::dropin {
namespace {

/// Errors about captures: the core already states them in CUDA's terms, so their text needs no
/// translation.
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

/// Results that report a state (still running, not ready) and that programs expect, so they are not
/// logged as failures.
bool tells_of_state(CUresult result) {
  switch (result) {
    case CUDA_ERROR_NOT_READY:
    case CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED:
    case CUDA_ERROR_PEER_ACCESS_NOT_ENABLED:
    case CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED:
    case CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED:
    case CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE:
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_FILE_NOT_FOUND:  // programs look for their own cached modules
      return true;
    default:
      return false;
  }
}

/// Functions that programs use to probe the system: an error from one is an ordinary answer.
bool is_question(std::string_view function) {
  constexpr std::string_view kQuestions[] = {
      "cuCtxGetDevice",          "cuCtxGetApiVersion",      "cuDeviceGetAttribute",
      "cuDeviceGetP2PAttribute", "cuFuncGetAttribute",      "cuFuncGetParamInfo",
      "cuGetExportTable",        "cuGetProcAddress",        "cuGetProcAddress_v2",
      "cuKernelGetParamInfo",    "cuMemGetAddressRange_v2", "cuModuleGetGlobal_v2",
      "cuPointerGetAttribute",   "cuPointerGetAttributes",
  };
  for (const std::string_view each : kQuestions) {
    if (function == each) return true;
  }
  return false;
}

}  // namespace

CUresult result_of(const Error& error) noexcept {
  if (error.status != KM_NOT_READY) DriverLibrary::tell(error.message.c_str());
  if (has_native_result(error)) return static_cast<CUresult>(error.native_code);
  return cuda_of_status(error.status).value_or(CUDA_ERROR_UNKNOWN);
}

CUresult fail(CUresult result, const char* format, ...) noexcept {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  DriverLibrary::tell(text);
  return result;
}

CUresult not_ready() noexcept {
  if (is_forked()) {
    return fail(CUDA_ERROR_NOT_INITIALIZED,
                "this process was forked from one that used CUDA; call exec first");
  }
  return fail(CUDA_ERROR_NOT_INITIALIZED, "cuInit was not called, or has failed");
}

const char* DriverLibrary::name_of(CUresult result) noexcept { return cuda_result_name(result); }

const char* DriverLibrary::text_of(CUresult result) noexcept { return error_text(result); }

void DriverLibrary::tell(const char* text) noexcept {
  frame::tell_reason(text);
  keep_log(text);
}

bool DriverLibrary::is_answer(const char* function, CUresult result) noexcept {
  if (tells_of_state(result) || is_question(function)) return true;
  if (result != CUDA_ERROR_ASSERT) return false;
  frame::note_shown_failure();  // the assertion has shown its text
  return true;
}

}  // namespace km::dropin
