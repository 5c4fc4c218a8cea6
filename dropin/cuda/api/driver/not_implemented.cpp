// The result of functions that are exported but not implemented.
#include <atomic>
#include <string_view>

#include "base/log.h"
#include "dropin/cuda/context/context.h"
#include "dropin/cuda/frame/driver_log.h"

namespace km::dropin {
namespace {

/// Functions of textures, surfaces and arrays, which check for a current context first.
bool is_of_context(std::string_view function) {
  for (const std::string_view begin : {"cuTex", "cuSurf", "cuArray", "cuMipmappedArray"}) {
    if (function.substr(0, begin.size()) == begin) return true;
  }
  return false;
}

constexpr const char* kGraphicsAdvice =
    " shares memory with OpenGL, EGL or VDPAU, which no CPU device can: have the program copy its "
    "pictures by cuMemcpyDtoH (many have an option such as -cpu, -nogl or --headless)";

bool is_of_graphics(std::string_view function) {
  for (const std::string_view begin :
       {"cuGL", "cuGraphics", "cuEGL", "cuVDPAU", "cuEventCreateFromEGL"}) {
    if (function.substr(0, begin.size()) == begin) return true;
  }
  return false;
}

}  // namespace

/// Called by stubs.cpp, which has no prototypes. Logs a function once.
int not_implemented(const char* function, std::atomic<bool>& told) {
  return guard(function, [&]() -> CUresult {
    if (is_of_context(function) && current_context_or_null() == nullptr) {
      return fail(CUDA_ERROR_INVALID_CONTEXT, "no context is current");
    }
    if (told.exchange(true)) return CUDA_ERROR_NOT_SUPPORTED;
    if (is_of_graphics(function) && frame::failures_are_shown.load(std::memory_order_relaxed)) {
      return fail(CUDA_ERROR_NOT_SUPPORTED, "%s%s", function, kGraphicsAdvice);
    }
    log(LogLevel::kWarn, "cuda", "%s is not implemented: CUDA_ERROR_NOT_SUPPORTED", function);
    keep_log(function);
    frame::note_shown_failure();
    return CUDA_ERROR_NOT_SUPPORTED;
  });
}

}  // namespace km::dropin
