// NVIDIA's NVRTC, which this library hands its calls to.
#pragma once

#include <cstddef>

#include "dropin/frame/call.h"

namespace km::nvrtc {

/// The results that this library gives itself; the numbers are NVRTC's.
enum NvrtcResult : int {
  kSuccess = 0,
  kOutOfMemory = 1,
  kInvalidInput = 3,
  kInvalidProgram = 4,
  kInternalError = 11,
};

/// NVRTC for the frame of its functions, which NVIDIA's library runs: it tells of failures itself.
struct NvrtcLibrary : frame::Library {
  using Status = int;
  static constexpr Status kOutOfMemory = NvrtcResult::kOutOfMemory;
  static constexpr Status kUnexpected = NvrtcResult::kInternalError;
  static constexpr bool kShowsFailures = false;
  static const char* name_of(int result) noexcept;
};

/// Runs the body of an exported function.
template <class Body>
int call(Body&& body, const char* function = __builtin_FUNCTION()) {
  return frame::call<NvrtcLibrary>(function, body);
}

/// The function of that name; null when no NVRTC is found, which the log says once, or when its
/// version has no such function.
void* nvidia_function(const char* name);

/// nvidia_function() with its type.
template <class Function>
Function* nvidia_function(const char* name) {
  return reinterpret_cast<Function*>(nvidia_function(name));
}

/// Calls NVIDIA's function of that name.
template <class... Arguments>
int forward(const char* name, Arguments... arguments) {
  auto* const function = nvidia_function<int(Arguments...)>(name);
  return function != nullptr ? function(arguments...) : int{kInternalError};
}

}  // namespace km::nvrtc
