// NCCL, which is opened at the first call that needs it.
#pragma once

#include <string>

#include "base/result.h"
#include "cuda/nccl.h"

namespace km::cuda {

class Nccl {
 public:
  /// The library of this process; the message of KM_ERROR_BLAS_UNAVAILABLE says what to install.
  static Result<const Nccl*> instance();
  static Result<Nccl> load(const std::string& path);

#define KM_NCCL_CALL(name, ...) nccl_library::name##_type name = nullptr;
#include "cuda/nccl_functions.def"
#undef KM_NCCL_CALL
  nccl_library::ncclGetLastError_type ncclGetLastError = nullptr;
  const std::string& path() const { return path_; }
  /// The version in messages: "2.28.9".
  const std::string& version() const { return version_; }

 private:
  std::string path_, version_;
};

/// The error of a failed function whose context works, with the ncclResult_t as native code.
/// `comm` may be null.
Error nccl_error(const Nccl& library, const char* function, nccl_library::Status status,
                 nccl_library::Comm comm);

}  // namespace km::cuda
