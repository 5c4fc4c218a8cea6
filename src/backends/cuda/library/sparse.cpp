// Calls of sparse.
#include "backends/cuda/library/library.h"

namespace km::cuda {

Status queue_sparse(const LibraryTarget&, const kmb_sparse_call&) {
  return make_error(KM_ERROR_NOT_SUPPORTED, "the cuda backend has no km_sparse calls yet");
}

}  // namespace km::cuda
