// The functions that go to NVIDIA's library as they are.
#include "dropin/nvrtc/nvidia_library.h"

namespace km::nvrtc {
namespace {

/// Hands the arguments of the exported function of that name to NVIDIA's.
template <class... Arguments>
int call_nvidia(const char* name, Arguments... arguments) {
  return call([&] { return forward(name, arguments...); }, name);
}

}  // namespace

#define KM_NVRTC_FORWARD(symbol, parameters, arguments) \
  extern "C" int symbol parameters { return call_nvidia(#symbol, KM_ARGUMENTS arguments); }
#define KM_ARGUMENTS(...) __VA_ARGS__
#include "dropin/nvrtc/functions.def"
#undef KM_NVRTC_FORWARD
#undef KM_ARGUMENTS

}  // namespace km::nvrtc
