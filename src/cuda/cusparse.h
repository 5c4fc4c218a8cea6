// The types and prototypes of cuSPARSE that are used, from cusparse.h, with all pointer types
// merged. They hold for cuSPARSE 12; tests/headers compares them with NVIDIA's header.
#pragma once

namespace km::cusparse_library {

enum Status : int {
  kSuccess = 0,
  kNotInitialized = 1,
  kAllocFailed = 2,
  kInvalidValue = 3,
  kArchMismatch = 4,
  kMappingError = 5,
  kExecutionFailed = 6,
  kInternalError = 7,
  kMatrixTypeNotSupported = 8,
  kZeroPivot = 9,
  kNotSupported = 10,
  kInsufficientResources = 11
};
enum Operation : int { kPlain = 0, kTranspose = 1, kConjugateTranspose = 2 };
enum Fill : int { kLower = 0, kUpper = 1 };
enum Diagonal : int { kNonUnit = 0, kUnit = 1 };
enum IndexType : int { kIndex32 = 2, kIndex64 = 3 };
enum IndexBase : int { kBaseZero = 0, kBaseOne = 1 };
enum Order : int { kColumns = 1, kRows = 2 };
enum DataType : int { kRealF32 = 0, kRealF64 = 1, kComplexF32 = 4, kComplexF64 = 5 };
enum Attribute : int { kFillMode = 0, kDiagonalType = 1 };
enum Algorithm : int { kDefaultAlgorithm = 0 };
enum Property : int { kMajorVersion = 0, kMinorVersion = 1 };

struct Context;
using Handle = Context*;
struct Described;
using Descriptor = Described*;  // of a matrix, a vector or a solve
using Data = const void*;
using Size = unsigned long;

#define KM_CUSPARSE_FUNCTION(name, ...) using name##_type = Status (*)(__VA_ARGS__);
#include "cuda/cusparse_functions.def"
#undef KM_CUSPARSE_FUNCTION

}  // namespace km::cusparse_library
