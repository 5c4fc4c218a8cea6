#include "dropin/cublas/frame/handle.h"

namespace km::cublas {

int32_t not_supported(const char* function) noexcept {
  return call(function, [] { return unsupported("the function is not implemented"); });
}

}  // namespace km::cublas
