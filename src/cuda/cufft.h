// The types and prototypes of cuFFT that are used, from cufft.h and cufftXt.h, with all pointer
// types merged. They hold for cuFFT 10 to 12; tests/headers compares them with NVIDIA's header.
#pragma once

namespace km::cufft_library {

enum Status : int {
  kSuccess = 0,
  kAllocFailed = 2,
  kInvalidType = 3,
  kInvalidValue = 4,
  kInternalError = 5,
  kExecFailed = 6,
  kSetupFailed = 7,
  kInvalidSize = 8,
  kUnalignedData = 9,
  kInvalidDevice = 11,
  kNoWorkspace = 13,
  kNotImplemented = 14,
  kNotSupported = 16
};
enum Direction : int { kForward = -1, kInverse = 1 };
enum DataType : int {
  kRealF32 = 0,
  kRealF64 = 1,
  kRealF16 = 2,
  kRealBf16 = 14,
  kComplexF32 = 4,
  kComplexF64 = 5,
  kComplexF16 = 6,
  kComplexBf16 = 15
};
enum Property : int { kMajorVersion = 0, kMinorVersion = 1 };

using Plan = int;
using Data = const void*;
using Sizes = const long long*;
using Size = unsigned long;

#define KM_CUFFT_FUNCTION(name, ...) using name##_type = Status (*)(__VA_ARGS__);
#include "cuda/cufft_functions.def"
#undef KM_CUFFT_FUNCTION

}  // namespace km::cufft_library
