#include "base/log.h"
#include "dropin/cublas/frame/handle.h"

namespace km::cublas {

int32_t not_supported(const char* function) noexcept {
  log(LogLevel::kInfo, "cuda", "%s is not implemented: CUBLAS_STATUS_NOT_SUPPORTED", function);
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

}  // namespace km::cublas
