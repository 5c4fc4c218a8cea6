#include "dropin/cudart/call.h"
#include "dropin/cudart/report.h"

namespace km::cudart {

int32_t not_supported(const char* function) noexcept {
  report("%s is not implemented: cudaErrorNotSupported", function);
  return record(cudaErrorNotSupported);
}

}  // namespace km::cudart
