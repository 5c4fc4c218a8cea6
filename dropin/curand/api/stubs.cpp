// Weak definitions of all functions of NVIDIA's library, for those that are not implemented.
#include "dropin/curand/generator/generator.h"
#include "dropin/frame/stub.h"

#define KM_CURAND_FUNCTION(symbol, result, parameters, arguments)       \
  extern "C" [[gnu::weak]] result symbol parameters {                   \
    return km::frame::Stub<km::curand::RandLibrary>{#symbol} arguments; \
  }
#include "dropin/curand/generated/functions.def"
