// Finds and loads OpenBLAS at run time, as a separate copy that is set to one thread. The backend's
// threads share the work instead, and the host program's OpenBLAS is not changed.
#pragma once

#include <optional>
#include <string>

#include "backend/interface.h"
#include "base/process/dylib.h"
#include "base/result.h"

namespace km::cpu {

class OpenBlas {
 public:
  /// The library of this process, loaded at the first call; the message of
  /// KM_ERROR_BLAS_UNAVAILABLE says what to install.
  static Result<const OpenBlas*> instance();
  /// Prepares LAPACK's routines of the same library; KM_ERROR_BLAS_UNAVAILABLE if it has none.
  static Status require_lapack();
  /// Called when a call was left by a fault, so that the library's buffers that it held are lost.
  /// After several of them, instance() fails.
  static void abandon();
  /// Loads the library in the file at `path`.
  static Result<OpenBlas> load(const std::string& path);

  /// The routine for f32, f64, c32 or c64; null if there is none.
  void* function(kmb_blas_routine routine, km_data_type type) const {
    return functions_[routine][type - KM_DATA_TYPE_F32];
  }
  /// KM_ERROR_BLAS_UNAVAILABLE names the function if this version of the library lacks it.
  Status check(kmb_blas_routine routine, km_data_type type) const;

 private:
  std::string path_;
  std::optional<Dylib> library_;
  void* functions_[KMB_BLAS_ROUTINE_COUNT][4] = {};
};

}  // namespace km::cpu
