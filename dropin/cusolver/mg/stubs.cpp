// Weak definitions of all functions of NVIDIA's libcusolverMg, for those that are not implemented.
#include "dropin/cusolver/mg/distribution.h"
#include "dropin/frame/stub.h"

#define KM_CUSOLVERMG_FUNCTION(symbol, result, parameters, arguments)       \
  extern "C" [[gnu::weak]] result symbol parameters {                       \
    return km::frame::Stub<km::cusolver::SolverLibrary>{#symbol} arguments; \
  }
#include "dropin/cusolver/generated/mg_functions.def"
