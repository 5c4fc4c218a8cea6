// Every name of NVIDIA's library, weakly: a function that is implemented elsewhere takes its place.
#include "dropin/cublas/frame/handle.h"
#include "dropin/frame/stub.h"

#define KM_CUBLAS_OLD_FUNCTION(symbol, result, parameters, arguments)
#define KM_CUBLAS_TEXT_FUNCTION(symbol, result, parameters, arguments)
#define KM_CUBLAS_FUNCTION(symbol, result, parameters, arguments)            \
  extern "C" [[gnu::weak]] result symbol parameters {                        \
    return km::frame::Stub<km::cublas::MissingFunctions>{#symbol} arguments; \
  }
#include "dropin/cublas/generated/functions.def"
