// Every name of NVIDIA's library, weakly: a function that is implemented elsewhere takes its place.
#include "dropin/cublas/lt/descriptors.h"
#include "dropin/frame/stub.h"

#define KM_CUBLASLT_TEXT_FUNCTION(symbol, result, parameters, arguments)
#define KM_CUBLASLT_FUNCTION(symbol, result, parameters, arguments)          \
  extern "C" [[gnu::weak]] result symbol parameters {                        \
    return km::frame::Stub<km::cublas::MissingFunctions>{#symbol} arguments; \
  }
#include "dropin/cublas/generated/lt_functions.def"
