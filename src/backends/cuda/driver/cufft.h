// cuFFT, which is opened at the first call that needs it.
#pragma once

#include <string>

#include "base/result.h"
#include "cuda/cufft.h"

namespace km::cuda {

class Cufft {
 public:
  /// The library of this process; the message of KM_ERROR_BLAS_UNAVAILABLE says what to install.
  static Result<const Cufft*> instance();
  static Result<Cufft> load(const std::string& path);

#define KM_CUFFT_FUNCTION(name, ...) cufft_library::name##_type name = nullptr;
#include "cuda/cufft_functions.def"
#undef KM_CUFFT_FUNCTION
  const std::string& path() const { return path_; }
  /// The version in messages: "11.2".
  const std::string& version() const { return version_; }

 private:
  std::string path_, version_;
};

/// The error of a failed function whose context works, with the cufftResult as native code.
Error fft_error(const char* function, cufft_library::Status status);

}  // namespace km::cuda
