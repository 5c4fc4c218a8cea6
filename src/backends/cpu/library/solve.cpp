// Tasks of km_solve calls.
#include "backends/cpu/library/library.h"

namespace km::cpu {

Result<std::shared_ptr<const Task>> make_solve_task(const kmb_solve_call&, uint32_t) {
  return make_error(KM_ERROR_NOT_SUPPORTED, "the cpu backend has no km_solve calls yet");
}

}  // namespace km::cpu
