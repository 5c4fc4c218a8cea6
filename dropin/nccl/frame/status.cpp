#include "dropin/nccl/frame/nccl.h"

namespace km::nccl {

const char* NcclLibrary::name_of(ncclResult_t status) noexcept {
  switch (status) {
#define KM_STATUS(name) \
  case name:            \
    return #name
    KM_STATUS(ncclSuccess);
    KM_STATUS(ncclUnhandledCudaError);
    KM_STATUS(ncclSystemError);
    KM_STATUS(ncclInternalError);
    KM_STATUS(ncclInvalidArgument);
    KM_STATUS(ncclInvalidUsage);
    KM_STATUS(ncclRemoteError);
    KM_STATUS(ncclInProgress);
    KM_STATUS(ncclTimeout);
    default:
      return nullptr;
#undef KM_STATUS
  }
}

ncclResult_t status_of(cu::CUresult result) noexcept {
  if (result != cu::CUDA_SUCCESS) {
    frame::explain("CUDA's error %d (KM_LOG=info,cuda says more)", static_cast<int>(result));
  }
  return frame::status_of<NcclLibrary>(result);
}

ncclResult_t status_of(comm::FailureKind kind) noexcept {
  switch (kind) {
    case comm::FailureKind::kNone:
      return ncclSuccess;
    case comm::FailureKind::kMismatch:
      return ncclInvalidUsage;
    case comm::FailureKind::kTimeout:
      return ncclTimeout;
    case comm::FailureKind::kLostRank:
    case comm::FailureKind::kAborted:
      return ncclRemoteError;
    case comm::FailureKind::kArgument:
      return ncclInvalidArgument;
    case comm::FailureKind::kSystem:
      return ncclSystemError;
  }
  return ncclInternalError;
}

ncclResult_t tell(const comm::Failure& failure) noexcept {
  if (failure) frame::explain("%s", failure.text.c_str());
  return status_of(failure.kind);
}

}  // namespace km::nccl
