// The functions that go to NVIDIA's library with copies of their arguments: all that are not
// defined elsewhere.
#include <tuple>

#include "dropin/nvrtc/arguments.h"

namespace km::nvrtc {
namespace {

/// Hands its arguments to NVIDIA's function of that name.
struct Forward {
  const char* name;

  template <class... Types>
  nvrtcResult operator()(Types... given) const {
    return call(
        [&]() -> nvrtcResult {
          std::tuple<Argument<Types>...> arguments{Argument<Types>(given)...};
          return std::apply([&](auto&... each) { return forward_each(each...); }, arguments);
        },
        name);
  }

 private:
  template <class... Arguments>
  nvrtcResult forward_each(Arguments&... arguments) const {
    nvrtcResult result = NVRTC_SUCCESS;
    const auto goes_on = [&](nvrtcResult next) { return (result = next) == NVRTC_SUCCESS; };
    if (!(... && goes_on(arguments.read()))) return result;
    const nvrtcResult made = forward(name, arguments.get()...);
    if (!(... && goes_on(arguments.write()))) return result;
    return made;
  }
};

}  // namespace

#define KM_NVRTC_TEXT_FUNCTION(symbol, result, parameters, arguments)
#define KM_NVRTC_FUNCTION(symbol, result, parameters, arguments) \
  extern "C" [[gnu::weak]] result symbol parameters { return Forward{#symbol} arguments; }
#include "dropin/nvrtc/generated/functions.def"

}  // namespace km::nvrtc
