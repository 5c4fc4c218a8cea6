// The functions that go to NVIDIA's library as they are.
#include "dropin/nvrtc/nvidia_library.h"

#define KM_NVRTC_FORWARD(symbol, parameters, arguments)                                \
  extern "C" int symbol parameters {                                                   \
    static auto* const function = km::nvrtc::nvidia_function<int parameters>(#symbol); \
    return function != nullptr ? function arguments : int{km::nvrtc::kInternalError};  \
  }
#include "dropin/nvrtc/functions.def"
#undef KM_NVRTC_FORWARD
