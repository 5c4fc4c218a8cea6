// Calls of solve.
#include "backends/cuda/library/library.h"

namespace km::cuda {

Status queue_solve(const LibraryTarget&, const kmb_solve_call&) {
  return make_error(KM_ERROR_NOT_SUPPORTED, "the cuda backend has no km_solve calls yet");
}

}  // namespace km::cuda
