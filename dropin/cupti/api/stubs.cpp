// Weak definitions of all functions of NVIDIA's library, for those that are not implemented.
#include "dropin/cupti/frame/cupti.h"
#include "dropin/frame/stub.h"

namespace km::cupti {

#define KM_CUPTI_TEXT_FUNCTION(symbol, result, parameters, arguments)
#define KM_CUPTI_FUNCTION(symbol, result, parameters, arguments) \
  extern "C" [[gnu::weak]] result symbol parameters {            \
    return frame::Stub<CuptiLibrary>{#symbol} arguments;         \
  }
#include "dropin/cupti/generated/functions.def"

}  // namespace km::cupti
