// Compiles when src/cuda/cublas.h agrees with NVIDIA's header, as dropin/cublas/generated/api.h has
// it, in all that a call can notice: counts and sizes of parameters, what is a pointer, and the
// values of enums.
#include "cuda/cublas.h"

#include "dropin/cublas/generated/api.h"
#include "same_prototypes.h"

// The table of routines has 0 for one that cuBLAS lacks, which gives this name; no function has it.
cublasStatus_t cublas0_v2();

namespace {

using namespace km;

#define KM_SAME(form, name)                                               \
  static_assert(std::is_same_v<decltype(&name), decltype(&cublas0_v2)> || \
                    g_same<cublas::form, decltype(&name)>,                \
                #name);
#define KMB_BLAS(routine, s, d, c, z, cublas_s, cublas_d, cublas_c, cublas_z) \
  KM_SAME(routine, cublas##cublas_s##_v2)                                     \
  KM_SAME(routine, cublas##cublas_d##_v2)                                     \
  KM_SAME(routine, cublas##cublas_c##_v2)                                     \
  KM_SAME(routine, cublas##cublas_z##_v2)
#include "backend/blas.def"
#undef KMB_BLAS

KM_SAME(GEMM_STRIDED_BATCHED, cublasSgemmStridedBatched)
KM_SAME(GEMM_STRIDED_BATCHED, cublasDgemmStridedBatched)
KM_SAME(GEMM_STRIDED_BATCHED, cublasCgemmStridedBatched)
KM_SAME(GEMM_STRIDED_BATCHED, cublasZgemmStridedBatched)

#define KM_CUBLAS_FUNCTION(name, ...) KM_SAME(name##_type, name)
#include "cuda/cublas_functions.def"
#undef KM_CUBLAS_FUNCTION

#define KM_VALUE(ours, theirs) static_assert(int{cublas::ours} == int{theirs}, #theirs);
KM_VALUE(kSuccess, CUBLAS_STATUS_SUCCESS)
KM_VALUE(kNotInitialized, CUBLAS_STATUS_NOT_INITIALIZED)
KM_VALUE(kAllocFailed, CUBLAS_STATUS_ALLOC_FAILED)
KM_VALUE(kInvalidValue, CUBLAS_STATUS_INVALID_VALUE)
KM_VALUE(kArchMismatch, CUBLAS_STATUS_ARCH_MISMATCH)
KM_VALUE(kMappingError, CUBLAS_STATUS_MAPPING_ERROR)
KM_VALUE(kExecutionFailed, CUBLAS_STATUS_EXECUTION_FAILED)
KM_VALUE(kInternalError, CUBLAS_STATUS_INTERNAL_ERROR)
KM_VALUE(kNotSupported, CUBLAS_STATUS_NOT_SUPPORTED)
KM_VALUE(kLicenseError, CUBLAS_STATUS_LICENSE_ERROR)
KM_VALUE(kPlain, CUBLAS_OP_N)
KM_VALUE(kTranspose, CUBLAS_OP_T)
KM_VALUE(kConjugateTranspose, CUBLAS_OP_C)
KM_VALUE(kLower, CUBLAS_FILL_MODE_LOWER)
KM_VALUE(kUpper, CUBLAS_FILL_MODE_UPPER)
KM_VALUE(kNonUnit, CUBLAS_DIAG_NON_UNIT)
KM_VALUE(kUnit, CUBLAS_DIAG_UNIT)
KM_VALUE(kLeft, CUBLAS_SIDE_LEFT)
KM_VALUE(kRight, CUBLAS_SIDE_RIGHT)
KM_VALUE(kHost, CUBLAS_POINTER_MODE_HOST)
KM_VALUE(kDevice, CUBLAS_POINTER_MODE_DEVICE)
KM_VALUE(kDefaultMath, CUBLAS_DEFAULT_MATH)
KM_VALUE(kNoReducedReduction, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)
KM_VALUE(kF16, CUDA_R_16F)
KM_VALUE(kBf16, CUDA_R_16BF)
KM_VALUE(kCompute32f, CUBLAS_COMPUTE_32F)
KM_VALUE(kDefaultAlgorithm, CUBLAS_GEMM_DEFAULT)
KM_VALUE(kMajorVersion, MAJOR_VERSION)
KM_VALUE(kMinorVersion, MINOR_VERSION)

}  // namespace
