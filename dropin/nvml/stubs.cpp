// Every name of the list, weakly: a function that is implemented elsewhere takes its place. The
// prototypes are left out, because none of the parameters is looked at.
#include <cstdint>

namespace km::nvml {

int32_t not_supported(const char* function) noexcept;  // not_supported.cpp

}  // namespace km::nvml

#define KM_NVML_FUNCTION(symbol) \
  extern "C" [[gnu::weak]] int32_t symbol() { return km::nvml::not_supported(#symbol); }
#include "dropin/nvml/functions.def"
