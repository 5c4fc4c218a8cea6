// Compiles when src/cuda/cusparse.h agrees with NVIDIA's headers, as
// dropin/cusparse/generated/api.h has them, in all that a call can notice.
#include "cuda/cusparse.h"

#include "dropin/cusparse/generated/api.h"
#include "same_prototypes.h"

namespace {

using namespace km;

#define KM_CUSPARSE_FUNCTION(name, ...) \
  static_assert(g_same<cusparse_library::name##_type, decltype(&name)>, #name);
#include "cuda/cusparse_functions.def"
#undef KM_CUSPARSE_FUNCTION

#define KM_VALUE(ours, theirs) static_assert(int{cusparse_library::ours} == int{theirs}, #theirs);
KM_VALUE(kSuccess, CUSPARSE_STATUS_SUCCESS)
KM_VALUE(kNotInitialized, CUSPARSE_STATUS_NOT_INITIALIZED)
KM_VALUE(kAllocFailed, CUSPARSE_STATUS_ALLOC_FAILED)
KM_VALUE(kInvalidValue, CUSPARSE_STATUS_INVALID_VALUE)
KM_VALUE(kArchMismatch, CUSPARSE_STATUS_ARCH_MISMATCH)
KM_VALUE(kMappingError, CUSPARSE_STATUS_MAPPING_ERROR)
KM_VALUE(kExecutionFailed, CUSPARSE_STATUS_EXECUTION_FAILED)
KM_VALUE(kInternalError, CUSPARSE_STATUS_INTERNAL_ERROR)
KM_VALUE(kMatrixTypeNotSupported, CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED)
KM_VALUE(kZeroPivot, CUSPARSE_STATUS_ZERO_PIVOT)
KM_VALUE(kNotSupported, CUSPARSE_STATUS_NOT_SUPPORTED)
KM_VALUE(kInsufficientResources, CUSPARSE_STATUS_INSUFFICIENT_RESOURCES)
KM_VALUE(kPlain, CUSPARSE_OPERATION_NON_TRANSPOSE)
KM_VALUE(kTranspose, CUSPARSE_OPERATION_TRANSPOSE)
KM_VALUE(kConjugateTranspose, CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE)
KM_VALUE(kLower, CUSPARSE_FILL_MODE_LOWER)
KM_VALUE(kUpper, CUSPARSE_FILL_MODE_UPPER)
KM_VALUE(kNonUnit, CUSPARSE_DIAG_TYPE_NON_UNIT)
KM_VALUE(kUnit, CUSPARSE_DIAG_TYPE_UNIT)
KM_VALUE(kIndex32, CUSPARSE_INDEX_32I)
KM_VALUE(kIndex64, CUSPARSE_INDEX_64I)
KM_VALUE(kBaseZero, CUSPARSE_INDEX_BASE_ZERO)
KM_VALUE(kBaseOne, CUSPARSE_INDEX_BASE_ONE)
KM_VALUE(kColumns, CUSPARSE_ORDER_COL)
KM_VALUE(kRows, CUSPARSE_ORDER_ROW)
KM_VALUE(kFillMode, CUSPARSE_SPMAT_FILL_MODE)
KM_VALUE(kDiagonalType, CUSPARSE_SPMAT_DIAG_TYPE)
KM_VALUE(kDefaultAlgorithm, CUSPARSE_SPMV_ALG_DEFAULT)
KM_VALUE(kDefaultAlgorithm, CUSPARSE_SPMM_ALG_DEFAULT)
KM_VALUE(kDefaultAlgorithm, CUSPARSE_SPSV_ALG_DEFAULT)
KM_VALUE(kDefaultAlgorithm, CUSPARSE_SPSM_ALG_DEFAULT)
KM_VALUE(kRealF32, CUDA_R_32F)
KM_VALUE(kRealF64, CUDA_R_64F)
KM_VALUE(kComplexF32, CUDA_C_32F)
KM_VALUE(kComplexF64, CUDA_C_64F)
KM_VALUE(kMajorVersion, MAJOR_VERSION)
KM_VALUE(kMinorVersion, MINOR_VERSION)

}  // namespace
