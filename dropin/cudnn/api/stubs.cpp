// Weak definitions of all functions of NVIDIA's library, for those that are not implemented.
#include "dropin/cudnn/frame/library.h"
#include "dropin/frame/stub.h"

#define KM_CUDNN_FUNCTION(symbol, result, parameters, arguments)      \
  extern "C" [[gnu::weak]] result symbol parameters {                 \
    return km::frame::Stub<km::cudnn::DnnLibrary>{#symbol} arguments; \
  }
#define KM_CUDNN_TEXT_FUNCTION(symbol, result, parameters, arguments)
#include "dropin/cudnn/generated/functions.def"
