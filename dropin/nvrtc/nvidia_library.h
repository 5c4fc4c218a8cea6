// NVIDIA's NVRTC, to which this library forwards its calls.
#pragma once

#include <cstddef>

#include "dropin/frame/call.h"
#include "dropin/nvrtc/generated/api.h"

namespace km::nvrtc {

/// NVRTC as the frame of exported functions describes it. NVIDIA's library, which runs the calls,
/// reports their failures itself.
struct NvrtcLibrary : frame::Library {
  using Status = nvrtcResult;
  static constexpr Status kOutOfMemory = NVRTC_ERROR_OUT_OF_MEMORY;
  static constexpr Status kUnexpected = NVRTC_ERROR_INTERNAL_ERROR;
  static constexpr bool kShowsFailures = false;
  static const char* name_of(nvrtcResult result) noexcept;
};

/// Runs the body of an exported function.
template <class Body>
nvrtcResult call(Body&& body, const char* function = __builtin_FUNCTION()) {
  return frame::call<NvrtcLibrary>(function, body);
}

/// Finds a function in NVIDIA's library. Null if no NVRTC is found, which is logged once, or if its
/// version lacks the function.
void* nvidia_function(const char* name);

/// Like nvidia_function(), with the function's type.
template <class Function>
Function* nvidia_function(const char* name) {
  return reinterpret_cast<Function*>(nvidia_function(name));
}

/// Calls NVIDIA's function of that name.
template <class... Arguments>
nvrtcResult forward(const char* name, Arguments... arguments) {
  auto* const function = nvidia_function<nvrtcResult(Arguments...)>(name);
  return function != nullptr ? function(arguments...) : NVRTC_ERROR_INTERNAL_ERROR;
}

}  // namespace km::nvrtc
