// NVIDIA's NVRTC, which this library hands its calls to.
#pragma once

#include <cstddef>

namespace km::nvrtc {

/// The results that this library gives itself; the numbers are NVRTC's.
enum NvrtcResult : int {
  kSuccess = 0,
  kOutOfMemory = 1,
  kInvalidInput = 3,
  kInvalidProgram = 4,
  kInternalError = 11,
};

/// The function of that name; null when no NVRTC is found, which the log says once, or when its
/// version has no such function.
void* nvidia_function(const char* name) noexcept;

/// nvidia_function() with its type, found once for each place that asks.
template <class Function>
Function* nvidia_function(const char* name) noexcept {
  return reinterpret_cast<Function*>(nvidia_function(name));
}

}  // namespace km::nvrtc
