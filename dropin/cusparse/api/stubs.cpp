// Weak definitions of all functions of NVIDIA's library, for those that are not implemented.
#include "dropin/cusparse/frame/handle.h"
#include "dropin/frame/stub.h"

#define KM_CUSPARSE_FUNCTION(symbol, result, parameters, arguments)         \
  extern "C" [[gnu::weak]] result symbol parameters {                       \
    return km::frame::Stub<km::cusparse::SparseLibrary>{#symbol} arguments; \
  }
#define KM_CUSPARSE_TEXT_FUNCTION(symbol, result, parameters, arguments)
#include "dropin/cusparse/generated/functions.def"
