// OpenBLAS, found and loaded at run time: a copy of our own, whose number of threads is one. The
// engine's threads share the work instead, so a host program's OpenBLAS stays as it is.
#pragma once

#include <string>
#include <vector>

#include "backend/interface.h"
#include "base/result.h"

namespace km::cpu {

class OpenBlas {
 public:
  /// The library of this process, loaded at the first call; KM_ERROR_BLAS_UNAVAILABLE says what to
  /// install.
  static Result<const OpenBlas*> instance();
  /// A call was left in the middle: what it held of the library's buffers is lost. A process may do
  /// that a few times, then instance() refuses.
  static void abandon();
  /// The library in file `path`.
  static Result<OpenBlas> load(const std::string& path);

  /// For f32, f64, c32, c64; null: there is none.
  void* function(kmb_blas_routine routine, km_data_type type) const {
    return functions_[routine][type - KM_DATA_TYPE_F32];
  }
  /// KM_ERROR_BLAS_UNAVAILABLE names the function if this version of the library lacks it.
  Status check(kmb_blas_routine routine, km_data_type type) const;

 private:
  std::string path_;
  void* functions_[KMB_BLAS_ROUTINE_COUNT][4] = {};
};

/// The files to try, best first. `named` is KM_OPENBLAS, empty when that is not set.
std::vector<std::string> openblas_candidates(const std::string& named,
                                             const std::vector<std::string>& folders);

}  // namespace km::cpu
