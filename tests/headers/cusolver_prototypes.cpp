// Compiles when src/cuda/cusolver.h agrees with NVIDIA's header, as dropin/cusolver/generated/api.h
// has it, in all that a call can notice.
#include "cuda/cusolver.h"

#include <cstdio>

#include "dropin/cusolver/generated/api.h"
#include "same_prototypes.h"

namespace {

using namespace km;

#define KM_SAME(form, name) \
  static_assert(g_same<cusolver_library::form##_type, decltype(&name)>, #name);
#define KM_CUSOLVER_FUNCTION(name, ...) KM_SAME(name, name)
#define KM_CUSOLVER_ROUTINE(routine, s, d, c, z, ...) \
  KM_SAME(routine, s)                                 \
  KM_SAME(routine, d)                                 \
  KM_SAME(routine, c)                                 \
  KM_SAME(routine, z)
#include "cuda/cusolver_functions.def"
#undef KM_CUSOLVER_ROUTINE
#undef KM_CUSOLVER_FUNCTION

#define KM_VALUE(ours, theirs) static_assert(int{cusolver_library::ours} == int{theirs}, #theirs);
KM_VALUE(kSuccess, CUSOLVER_STATUS_SUCCESS)
KM_VALUE(kNotInitialized, CUSOLVER_STATUS_NOT_INITIALIZED)
KM_VALUE(kAllocFailed, CUSOLVER_STATUS_ALLOC_FAILED)
KM_VALUE(kInvalidValue, CUSOLVER_STATUS_INVALID_VALUE)
KM_VALUE(kArchMismatch, CUSOLVER_STATUS_ARCH_MISMATCH)
KM_VALUE(kExecutionFailed, CUSOLVER_STATUS_EXECUTION_FAILED)
KM_VALUE(kInternalError, CUSOLVER_STATUS_INTERNAL_ERROR)
KM_VALUE(kNotSupported, CUSOLVER_STATUS_NOT_SUPPORTED)
KM_VALUE(kPlain, CUBLAS_OP_N)
KM_VALUE(kTranspose, CUBLAS_OP_T)
KM_VALUE(kConjugateTranspose, CUBLAS_OP_C)
KM_VALUE(kLower, CUBLAS_FILL_MODE_LOWER)
KM_VALUE(kUpper, CUBLAS_FILL_MODE_UPPER)
KM_VALUE(kLeft, CUBLAS_SIDE_LEFT)
KM_VALUE(kRight, CUBLAS_SIDE_RIGHT)
KM_VALUE(kValues, CUSOLVER_EIG_MODE_NOVECTOR)
KM_VALUE(kVectors, CUSOLVER_EIG_MODE_VECTOR)
KM_VALUE(kMajorVersion, MAJOR_VERSION)
KM_VALUE(kMinorVersion, MINOR_VERSION)

}  // namespace
