// min and max of PTX on f32 and f64 lanes.
#pragma once

#include "simt/arithmetic/lanes.h"

namespace km::simt::arithmetic {

/// The minimum or maximum. A number is preferred to a NaN; two NaNs, or any NaN with
/// `propagate_nan`, give a NaN, which the caller has to make canonical. -0 is less than +0.
V real_min_max(Lanes& l, bool maximum, bool propagate_nan, V a, V c);

/// real_min_max() of the magnitudes, with the xor of the signs (.xorsign.abs).
V xorsign_min_max(Lanes& l, bool maximum, bool propagate_nan, V a, V c);

}  // namespace km::simt::arithmetic
