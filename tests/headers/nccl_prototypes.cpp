// Compiles when src/cuda/nccl.h agrees with NVIDIA's header, as dropin/nccl/generated/api.h has it,
// in all that a call can notice.
#include "cuda/nccl.h"

#include "dropin/nccl/generated/api.h"
#include "same_prototypes.h"

namespace {

using namespace km;

#define KM_NCCL_CALL(name, ...) \
  static_assert(g_same<nccl_library::name##_type, decltype(&name)>, #name);
#include "cuda/nccl_functions.def"
#undef KM_NCCL_CALL
static_assert(g_same<nccl_library::ncclGetLastError_type, decltype(&ncclGetLastError)>);
static_assert(sizeof(nccl_library::UniqueId) == sizeof(ncclUniqueId));

#define KM_VALUE(ours, theirs) static_assert(int{nccl_library::ours} == int{theirs}, #theirs);
KM_VALUE(kSuccess, ncclSuccess)
KM_VALUE(kUnhandledCudaError, ncclUnhandledCudaError)
KM_VALUE(kSystemError, ncclSystemError)
KM_VALUE(kInternalError, ncclInternalError)
KM_VALUE(kInvalidArgument, ncclInvalidArgument)
KM_VALUE(kInvalidUsage, ncclInvalidUsage)
KM_VALUE(kRemoteError, ncclRemoteError)
KM_VALUE(kInProgress, ncclInProgress)
KM_VALUE(kInt8, ncclInt8)
KM_VALUE(kUint8, ncclUint8)
KM_VALUE(kInt32, ncclInt32)
KM_VALUE(kUint32, ncclUint32)
KM_VALUE(kInt64, ncclInt64)
KM_VALUE(kUint64, ncclUint64)
KM_VALUE(kF16, ncclFloat16)
KM_VALUE(kF32, ncclFloat32)
KM_VALUE(kF64, ncclFloat64)
KM_VALUE(kBf16, ncclBfloat16)
KM_VALUE(kE4m3, ncclFloat8e4m3)
KM_VALUE(kE5m2, ncclFloat8e5m2)
KM_VALUE(kSum, ncclSum)
KM_VALUE(kProduct, ncclProd)
KM_VALUE(kMax, ncclMax)
KM_VALUE(kMin, ncclMin)
KM_VALUE(kAverage, ncclAvg)
KM_VALUE(kScalarHost, ncclScalarHostImmediate)
#undef KM_VALUE

}  // namespace
