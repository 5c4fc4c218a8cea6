// The functions that go to NVIDIA's library as they are: all that are not defined elsewhere.
#include "dropin/nvrtc/nvidia_library.h"

namespace km::nvrtc {
namespace {

/// Hands its arguments to NVIDIA's function of that name.
struct Forward {
  const char* name;

  template <class... Arguments>
  nvrtcResult operator()(Arguments... arguments) const {
    return call([&] { return forward(name, arguments...); }, name);
  }
};

}  // namespace

#define KM_NVRTC_TEXT_FUNCTION(symbol, result, parameters, arguments)
#define KM_NVRTC_FUNCTION(symbol, result, parameters, arguments) \
  extern "C" [[gnu::weak]] result symbol parameters { return Forward{#symbol} arguments; }
#include "dropin/nvrtc/generated/functions.def"

}  // namespace km::nvrtc
