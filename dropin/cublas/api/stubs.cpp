// Every name of NVIDIA's library, weakly: a function that is implemented elsewhere takes its place.
// The headers with the prototypes are left out, because none of the parameters is looked at.
#include <cstdint>

namespace km::cublas {

int32_t not_supported(const char* function) noexcept;  // frame/not_supported.cpp

}  // namespace km::cublas

#define KM_CUBLAS_FUNCTION(symbol) \
  extern "C" [[gnu::weak]] int32_t symbol() { return km::cublas::not_supported(#symbol); }
#include "dropin/cublas/api/functions.def"
