// Every other function of the driver: exported, and not supported. The definitions that stand
// elsewhere come before these.
extern "C" {
#define KM_CUDA_FUNCTION(symbol, base, suffix, version) \
  __attribute__((weak)) int symbol() { return 801; }
#include "cuda/generated/functions.def"
#undef KM_CUDA_FUNCTION
}
