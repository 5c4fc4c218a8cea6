// Every name that the CUDA driver library exports, so that a program that wants all of them can
// start. These definitions are weak: what is implemented elsewhere takes their place. The headers
// with the prototypes are left out, because none of the parameters is looked at.
#include <atomic>

#include "base/log.h"

namespace {

constexpr int kNotSupported = 801;

int not_implemented(const char* function, std::atomic<bool>& told) noexcept {
  if (!told.exchange(true)) {
    km::log(km::LogLevel::kWarn, "cuda", "%s is not implemented: CUDA_ERROR_NOT_SUPPORTED",
            function);
  }
  return kNotSupported;
}

}  // namespace

#define KM_CUDA_FUNCTION(symbol, base, suffix, version) \
  extern "C" [[gnu::weak]] int symbol() noexcept {      \
    static std::atomic<bool> told{false};               \
    return not_implemented(#symbol, told);              \
  }
#include "cuda/generated/functions.def"
#undef KM_CUDA_FUNCTION
