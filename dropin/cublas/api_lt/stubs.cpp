// Weak definitions of every name in NVIDIA's library; an implemented function's definition replaces
// the weak one. The headers with prototypes are not included, because the parameters are not read.
#include <cstdint>

namespace km::cublas {

int32_t not_supported(const char* function) noexcept;  // frame/not_supported.cpp

}  // namespace km::cublas

#define KM_CUBLAS_FUNCTION(symbol) \
  extern "C" [[gnu::weak]] int32_t symbol() { return km::cublas::not_supported(#symbol); }
#include "dropin/cublas/api_lt/functions.def"
