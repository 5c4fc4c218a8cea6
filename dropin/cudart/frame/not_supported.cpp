#include "base/log.h"
#include "dropin/cudart/frame/last_error.h"

namespace km::cudart {

int32_t not_supported(const char* function) noexcept {
  log(LogLevel::kInfo, "cuda", "%s is not implemented: cudaErrorNotSupported", function);
  return record(cudaErrorNotSupported);
}

}  // namespace km::cudart
