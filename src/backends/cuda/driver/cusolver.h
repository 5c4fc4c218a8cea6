// cuSOLVER, which is opened at the first call that needs it.
#pragma once

#include <string>

#include "backend/interface.h"
#include "base/result.h"
#include "cuda/cusolver.h"

namespace km::cuda {

class Cusolver {
 public:
  /// The library of this process; the message of KM_ERROR_BLAS_UNAVAILABLE says what to install.
  static Result<const Cusolver*> instance();
  static Result<Cusolver> load(const std::string& path);

#define KM_CUSOLVER_FUNCTION(name, ...) cusolver_library::name##_type name = nullptr;
#define KM_CUSOLVER_ROUTINE(routine, s, d, c, z, ...) \
  cusolver_library::routine##_type routine##_of[4] = {};
#include "cuda/cusolver_functions.def"
#undef KM_CUSOLVER_ROUTINE
#undef KM_CUSOLVER_FUNCTION
  const std::string& path() const { return path_; }
  /// The version in messages: "11.6".
  const std::string& version() const { return version_; }

 private:
  std::string path_, version_;
};

/// The error of a failed function whose context works, with the cusolverStatus_t as native code.
Error solver_error(const char* function, cusolver_library::Status status);

/// Waits for the device, because cuSOLVER does.
void destroy_solver_handle(cusolver_library::Handle handle);

}  // namespace km::cuda
