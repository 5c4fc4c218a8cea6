// min and max of PTX on f32 and f64 lanes.
#pragma once

#include "simt/lower/lanes.h"

namespace km::simt::lower {

/// Of a number and a NaN the number; of two NaNs, or of any with `propagate_nan`, a NaN (which the
/// caller makes canonical before its bits escape). -0 is less than +0.
V real_min_max(Lanes& l, bool maximum, bool propagate_nan, V a, V c);

/// The same of the magnitudes, with the product of the signs (.xorsign.abs).
V xorsign_min_max(Lanes& l, bool maximum, bool propagate_nan, V a, V c);

}  // namespace km::simt::lower
