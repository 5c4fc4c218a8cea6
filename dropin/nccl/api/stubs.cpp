// Weak definitions of all functions of NVIDIA's library, for those that are not implemented, and
// the second names of all, by which profilers call them.
#include "dropin/frame/stub.h"
#include "dropin/nccl/frame/nccl.h"

#define KM_NCCL_FUNCTION(symbol, result, parameters, arguments)       \
  extern "C" [[gnu::weak]] result symbol parameters {                 \
    return km::frame::Stub<km::nccl::NcclLibrary>{#symbol} arguments; \
  }
#define KM_NCCL_TEXT_FUNCTION(symbol, result, parameters, arguments)
#include "dropin/nccl/generated/functions.def"
#undef KM_NCCL_FUNCTION
#undef KM_NCCL_TEXT_FUNCTION

#define KM_NCCL_FUNCTION(symbol, result, parameters, arguments) \
  extern "C" result p##symbol parameters;                       \
  extern "C" result p##symbol parameters { return symbol arguments; }
#define KM_NCCL_TEXT_FUNCTION KM_NCCL_FUNCTION
#include "dropin/nccl/generated/functions.def"
