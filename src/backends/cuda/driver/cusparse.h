// cuSPARSE, which is opened at the first call that needs it.
#pragma once

#include <string>

#include "base/result.h"
#include "cuda/cusparse.h"

namespace km::cuda {

class Cusparse {
 public:
  /// The library of this process; the message of KM_ERROR_BLAS_UNAVAILABLE says what to install.
  static Result<const Cusparse*> instance();
  static Result<Cusparse> load(const std::string& path);

#define KM_CUSPARSE_FUNCTION(name, ...) cusparse_library::name##_type name = nullptr;
#include "cuda/cusparse_functions.def"
#undef KM_CUSPARSE_FUNCTION
  const std::string& path() const { return path_; }
  /// The version in messages: "12.5".
  const std::string& version() const { return version_; }

 private:
  std::string path_, version_;
};

/// The error of a failed function whose context works, with the cusparseStatus_t as native code.
Error sparse_error(const char* function, cusparse_library::Status status);

/// Ends an object of cuSPARSE that one thread at a time used.
void destroy_sparse_handle(cusparse_library::Handle handle);

}  // namespace km::cuda
