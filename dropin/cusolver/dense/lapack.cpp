#include "dropin/cusolver/dense/lapack.h"

#include "base/process/openblas.h"

namespace km::cusolver {
namespace {

Result<math::LapackRoutines> load(const std::string& path) {
  KM_ASSIGN(const Dylib library, open_openblas(path));
  return math::find_lapack(library, path);
}

}  // namespace

cusolverStatus_t require_lapack() {
  static const Result<math::LapackRoutines> found =
      find_openblas("LAPACK, which cuSOLVER's routines need,", load);
  if (!found) {
    return frame::fail(CUSOLVER_STATUS_NOT_INITIALIZED, "%s", found.error().message.c_str());
  }
  math::use_lapack(*found);
  return CUSOLVER_STATUS_SUCCESS;
}

}  // namespace km::cusolver
