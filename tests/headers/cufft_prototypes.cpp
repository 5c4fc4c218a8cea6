// Compiles when src/cuda/cufft.h agrees with NVIDIA's headers, as dropin/cufft/generated/api.h has
// them, in all that a call can notice.
#include "cuda/cufft.h"

#include "dropin/cufft/generated/api.h"
#include "same_prototypes.h"

namespace {

using namespace km;

#define KM_CUFFT_FUNCTION(name, ...) \
  static_assert(g_same<cufft_library::name##_type, decltype(&name)>, #name);
#include "cuda/cufft_functions.def"
#undef KM_CUFFT_FUNCTION

#define KM_VALUE(ours, theirs) static_assert(int{cufft_library::ours} == int{theirs}, #theirs);
KM_VALUE(kSuccess, CUFFT_SUCCESS)
KM_VALUE(kAllocFailed, CUFFT_ALLOC_FAILED)
KM_VALUE(kInvalidType, CUFFT_INVALID_TYPE)
KM_VALUE(kInvalidValue, CUFFT_INVALID_VALUE)
KM_VALUE(kInternalError, CUFFT_INTERNAL_ERROR)
KM_VALUE(kExecFailed, CUFFT_EXEC_FAILED)
KM_VALUE(kSetupFailed, CUFFT_SETUP_FAILED)
KM_VALUE(kInvalidSize, CUFFT_INVALID_SIZE)
KM_VALUE(kUnalignedData, CUFFT_UNALIGNED_DATA)
KM_VALUE(kInvalidDevice, CUFFT_INVALID_DEVICE)
KM_VALUE(kNoWorkspace, CUFFT_NO_WORKSPACE)
KM_VALUE(kNotImplemented, CUFFT_NOT_IMPLEMENTED)
KM_VALUE(kNotSupported, CUFFT_NOT_SUPPORTED)
KM_VALUE(kRealF32, CUDA_R_32F)
KM_VALUE(kRealF64, CUDA_R_64F)
KM_VALUE(kRealF16, CUDA_R_16F)
KM_VALUE(kRealBf16, CUDA_R_16BF)
KM_VALUE(kComplexF32, CUDA_C_32F)
KM_VALUE(kComplexF64, CUDA_C_64F)
KM_VALUE(kComplexF16, CUDA_C_16F)
KM_VALUE(kComplexBf16, CUDA_C_16BF)
KM_VALUE(kMajorVersion, MAJOR_VERSION)
KM_VALUE(kMinorVersion, MINOR_VERSION)

}  // namespace
