// Weak definitions of all functions of NVIDIA's libcufftw, for those that are not implemented.
#include "dropin/cufft/generated/fftw_api.h"
#include "dropin/frame/reason.h"

namespace {

/// A function that is not implemented: it gives null or 0.
template <class Result>
struct Missing {
  const char* function;

  template <class... Arguments>
  Result operator()(Arguments...) const {
    km::frame::current_function() = function;
    km::frame::explain("the function is not implemented");
    return Result();
  }
};

}  // namespace

#define KM_CUFFTW_FUNCTION(symbol, result, parameters, arguments) \
  extern "C" [[gnu::weak]] result symbol parameters { return Missing<result>{#symbol} arguments; }
#define KM_CUFFTW_TEXT_FUNCTION KM_CUFFTW_FUNCTION
#include "dropin/cufft/generated/fftw_functions.def"
