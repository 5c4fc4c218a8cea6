// Weak definitions of all functions of NVIDIA's library, for those that are not implemented.
#include "dropin/cufft/frame/cufft.h"
#include "dropin/frame/stub.h"

#define KM_CUFFT_FUNCTION(symbol, result, parameters, arguments)      \
  extern "C" [[gnu::weak]] result symbol parameters {                 \
    return km::frame::Stub<km::cufft::FftLibrary>{#symbol} arguments; \
  }
#include "dropin/cufft/generated/functions.def"
