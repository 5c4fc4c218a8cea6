// Tasks of km_sparse calls.
#include "backends/cpu/library/library.h"

namespace km::cpu {

Result<std::shared_ptr<const Task>> make_sparse_task(const kmb_sparse_call&, uint32_t) {
  return make_error(KM_ERROR_NOT_SUPPORTED, "the cpu backend has no km_sparse calls yet");
}

}  // namespace km::cpu
