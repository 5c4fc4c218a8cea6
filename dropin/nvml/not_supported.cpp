#include "base/log.h"
#include "dropin/nvml/nvml.h"

namespace km::nvml {

int32_t not_supported(const char* function) noexcept {
  if (!is_initialized()) return NVML_ERROR_UNINITIALIZED;
  log(LogLevel::kInfo, "cuda", "%s is not implemented: NVML_ERROR_NOT_SUPPORTED", function);
  return NVML_ERROR_NOT_SUPPORTED;
}

}  // namespace km::nvml
