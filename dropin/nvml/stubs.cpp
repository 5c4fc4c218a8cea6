// Weak definitions of all functions of NVIDIA's library, for those that are not implemented.
#include "dropin/frame/stub.h"
#include "dropin/nvml/nvml.h"

namespace km::nvml {
namespace {

/// Asks for nvmlInit first, as all functions do.
struct UnlessUninitialized {
  frame::Stub<NvmlLibrary> stub;

  template <class... Arguments>
  nvmlReturn_t operator()(Arguments... arguments) const {
    return is_initialized() ? stub(arguments...) : NVML_ERROR_UNINITIALIZED;
  }
};

}  // namespace

#define KM_NVML_TEXT_FUNCTION(symbol, result, parameters, arguments)
#define KM_NVML_FUNCTION(symbol, result, parameters, arguments) \
  extern "C" [[gnu::weak]] result symbol parameters {           \
    return UnlessUninitialized{#symbol} arguments;              \
  }
#include "dropin/nvml/generated/functions.def"

}  // namespace km::nvml
