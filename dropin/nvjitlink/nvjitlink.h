// The frame of nvJitLink's functions.
#pragma once

#include "dropin/frame/call.h"
#include "dropin/nvjitlink/generated/api.h"

extern "C" nvJitLinkResult nvJitLinkVersion(unsigned int* major, unsigned int* minor);

namespace km::nvjitlink {

/// Describes nvJitLink to the shared frame.
struct JitLinkLibrary : frame::Library {
  using Status = nvJitLinkResult;
  static constexpr Status kOutOfMemory = NVJITLINK_ERROR_INTERNAL;
  static constexpr Status kUnexpected = NVJITLINK_ERROR_INTERNAL;
  static const char* name_of(nvJitLinkResult result) noexcept;
};

/// Logs why an argument is invalid and returns the error.
inline constexpr frame::Failure<NVJITLINK_ERROR_INVALID_INPUT> invalid;

/// Runs the body of an exported function.
template <class Body>
nvJitLinkResult call(Body&& body, const char* function = __builtin_FUNCTION()) {
  return frame::call<JitLinkLibrary>(function, body);
}

}  // namespace km::nvjitlink
