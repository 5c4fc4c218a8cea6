// The types and prototypes of cuBLAS that are used, from cublas_api.h, with all pointer types
// merged. They hold for cuBLAS 11 to 13; tests/headers compares them with NVIDIA's header.
#pragma once

namespace km::cublas {

enum Status : int {
  kSuccess = 0,
  kNotInitialized = 1,
  kAllocFailed = 3,
  kInvalidValue = 7,
  kArchMismatch = 8,
  kMappingError = 11,
  kExecutionFailed = 13,
  kInternalError = 14,
  kNotSupported = 15,
  kLicenseError = 16
};
enum Operation : int { kPlain = 0, kTranspose = 1, kConjugateTranspose = 2 };
enum Fill : int { kLower = 0, kUpper = 1 };
enum Diagonal : int { kNonUnit = 0, kUnit = 1 };
enum Side : int { kLeft = 0, kRight = 1 };
enum PointerMode : int { kHost = 0, kDevice = 1 };
/// The precision of each type, and sums of products in that which the call names, on the way also.
enum Math : int { kDefaultMath = 0, kNoReducedReduction = 16 };
enum DataType : int { kF16 = 2, kBf16 = 14 };
enum Compute : int { kCompute32f = 68 };
enum Algorithm : int { kDefaultAlgorithm = -1 };
enum Property : int { kMajorVersion = 0, kMinorVersion = 1 };

struct Context;
using Handle = Context*;
using Data = const void*;

/// The type of one routine, whatever the type of its elements: KM_CUBLAS_FORM(routine of
/// backend/blas.def, parameters).
#define KM_CUBLAS_FORM(routine, ...) using routine = Status (*)(__VA_ARGS__);
#include "cuda/cublas_forms.def"
#undef KM_CUBLAS_FORM

using GEMM_STRIDED_BATCHED = Status (*)(Handle, Operation, Operation, int, int, int, Data, Data,
                                        int, long long, Data, int, long long, Data, Data, int,
                                        long long, int);

// The others, by the names that the library exports: KM_CUBLAS_FUNCTION(name, parameters).
#define KM_CUBLAS_FUNCTION(name, ...) using name##_type = Status (*)(__VA_ARGS__);
#include "cuda/cublas_functions.def"
#undef KM_CUBLAS_FUNCTION

}  // namespace km::cublas
