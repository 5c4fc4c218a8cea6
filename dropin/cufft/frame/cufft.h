// The frame around every exported function of libcufft.
#pragma once

#include "dropin/cufft/generated/api.h"
#include "dropin/library/call.h"
#include "dropin/library/host_memory.h"

namespace km::cufft {

/// Logs why an argument is wrong and returns the error.
inline constexpr frame::Failure<CUFFT_INVALID_VALUE> invalid;
inline constexpr frame::Failure<CUFFT_INVALID_SIZE> invalid_size;
inline constexpr frame::Failure<CUFFT_INVALID_PLAN> invalid_plan;
inline constexpr frame::Failure<CUFFT_NOT_SUPPORTED> unsupported;

/// Describes cuFFT to the shared frame.
struct FftLibrary : frame::Library {
  using Status = cufftResult;
  static constexpr Status kOutOfMemory = CUFFT_ALLOC_FAILED;
  static constexpr Status kUnexpected = CUFFT_INTERNAL_ERROR;
  static constexpr Status kNotInitialized = CUFFT_SETUP_FAILED;
  static constexpr Status kNotSupported = CUFFT_NOT_SUPPORTED;
  static constexpr frame::StatusOfResult<Status> kStatuses[] = {
      {cu::CUDA_SUCCESS, CUFFT_SUCCESS},
      {cu::CUDA_ERROR_OUT_OF_MEMORY, CUFFT_ALLOC_FAILED},
      {cu::CUDA_ERROR_INVALID_VALUE, CUFFT_INVALID_VALUE},
      {cu::CUDA_ERROR_NOT_SUPPORTED, CUFFT_NOT_SUPPORTED},
  };
  static constexpr Status kOtherStatus = CUFFT_EXEC_FAILED;
  static const char* name_of(cufftResult status) noexcept;
};

/// Converts a result of the driver to a cufftResult.
constexpr cufftResult status_of(cu::CUresult result) noexcept {
  return frame::status_of<FftLibrary>(result);
}

/// Runs the body of an exported function.
template <class Body>
cufftResult call(Body&& body, const char* function = __builtin_FUNCTION()) {
  return library::call<FftLibrary>(function, body);
}

/// Stores a result for the program.
template <class T>
cufftResult give(const char* name, T* place, const T& value) noexcept {
  if (place != nullptr && library::write_host(place, value)) return CUFFT_SUCCESS;
  return invalid("%s: no result can be written to %p", name, static_cast<void*>(place));
}

}  // namespace km::cufft
