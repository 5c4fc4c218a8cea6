// The functions of FFTW's interface in double precision.
#include <cstdlib>

#include "dropin/cufft/fftw/allocate.h"
#include "dropin/cufft/fftw/planners.h"
#include "dropin/cufft/generated/fftw_api.h"

namespace {
using Real = double;
using Complex = fftw_complex;
using Plan = fftw_plan;
constexpr bool kDouble = true;
}  // namespace
#define KM_NAME(rest) fftw_##rest
#include "dropin/cufft/api_fftw/planner_functions.inc"
