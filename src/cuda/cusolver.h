// The types and prototypes of cuSOLVER that are used, from cusolverDn.h, with all pointer types
// merged. They hold for cuSOLVER 11 and 12; tests/headers compares them with NVIDIA's header.
#pragma once

namespace km::cusolver_library {

enum Status : int {
  kSuccess = 0,
  kNotInitialized = 1,
  kAllocFailed = 2,
  kInvalidValue = 3,
  kArchMismatch = 4,
  kExecutionFailed = 6,
  kInternalError = 7,
  kNotSupported = 9
};
enum Operation : int { kPlain = 0, kTranspose = 1, kConjugateTranspose = 2 };
enum Fill : int { kLower = 0, kUpper = 1 };
enum Side : int { kLeft = 0, kRight = 1 };
enum Mode : int { kValues = 0, kVectors = 1 };
enum Property : int { kMajorVersion = 0, kMinorVersion = 1 };

struct Context;
using Handle = Context*;
using Data = const void*;

// Routines by their names for f32, f64, c32 and c64: KM_CUSOLVER_ROUTINE(routine, s, d, c, z,
// parameters), and other functions: KM_CUSOLVER_FUNCTION(name, parameters).
#define KM_CUSOLVER_ROUTINE(routine, s, d, c, z, ...) \
  using routine##_type = Status (*)(__VA_ARGS__);
#define KM_CUSOLVER_FUNCTION(name, ...) using name##_type = Status (*)(__VA_ARGS__);
#include "cuda/cusolver_functions.def"
#undef KM_CUSOLVER_ROUTINE
#undef KM_CUSOLVER_FUNCTION

}  // namespace km::cusolver_library
