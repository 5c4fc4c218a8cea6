// The functions of FFTW's interface in single precision.
#include <cstdlib>

#include "dropin/cufft/fftw/allocate.h"
#include "dropin/cufft/fftw/planners.h"
#include "dropin/cufft/generated/fftw_api.h"

namespace {
using Real = float;
using Complex = fftwf_complex;
using Plan = fftwf_plan;
constexpr bool kDouble = false;
}  // namespace
#define KM_NAME(rest) fftwf_##rest
#include "dropin/cufft/api_fftw/planner_functions.inc"
