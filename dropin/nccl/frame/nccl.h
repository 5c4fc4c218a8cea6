// The frame around every exported function of libnccl.
#pragma once

#include <cstring>

#include "comm/segment/failure.h"
#include "dropin/library/call.h"
#include "dropin/library/host_memory.h"
#include "dropin/nccl/generated/api.h"

namespace km::nccl {

/// Logs why an argument is wrong and returns the error.
inline constexpr frame::Failure<ncclInvalidArgument> invalid;
/// Logs why a call may not be made now and returns the error.
inline constexpr frame::Failure<ncclInvalidUsage> misused;

/// Describes NCCL to the shared frame.
struct NcclLibrary : frame::Library {
  using Status = ncclResult_t;
  static constexpr Status kOutOfMemory = ncclSystemError;
  static constexpr Status kUnexpected = ncclInternalError;
  static constexpr Status kNotInitialized = ncclInvalidArgument;
  static constexpr Status kNotSupported = ncclInvalidUsage;
  static constexpr frame::StatusOfResult<Status> kStatuses[] = {
      {cu::CUDA_SUCCESS, ncclSuccess},
      {cu::CUDA_ERROR_INVALID_VALUE, ncclInvalidArgument},
      {cu::CUDA_ERROR_NOT_SUPPORTED, ncclInvalidUsage},
  };
  static constexpr Status kOtherStatus = ncclUnhandledCudaError;
  static const char* name_of(ncclResult_t status) noexcept;
  /// Programs poll for the end of calls that do not block, and ask for what devices can do.
  static bool is_answer(const char* function, int status) noexcept {
    return status == ncclInProgress || std::strcmp(function, "ncclCommQueryProperties") == 0;
  }
};

/// Converts a result of the driver to a ncclResult_t, and keeps the reason of a failure, so that
/// ncclGetLastError() does not give that of an older one.
ncclResult_t status_of(cu::CUresult result) noexcept;
/// The result for a kind of failures.
ncclResult_t status_of(comm::FailureKind kind) noexcept;
/// Logs the failure's text and returns its result.
ncclResult_t tell(const comm::Failure& failure) noexcept;

/// Runs the body of an exported function.
template <class Body>
ncclResult_t call(Body&& body, const char* function = __builtin_FUNCTION()) {
  return library::call<NcclLibrary>(function, body);
}

/// Stores a result for the program.
template <class T>
ncclResult_t give(const char* name, T* place, const T& value) noexcept {
  if (place != nullptr && library::write_host(place, value)) return ncclSuccess;
  return invalid("%s: no result can be written to %p", name, static_cast<void*>(place));
}

}  // namespace km::nccl
