#include "dropin/nvml/nvml.h"

namespace km::nvml {

int32_t not_supported(const char* function) noexcept {
  const auto answer = [](const Driver&) {
    return frame::fail(NVML_ERROR_NOT_SUPPORTED, "the function is not implemented");
  };
  return call(answer, function);
}

}  // namespace km::nvml
