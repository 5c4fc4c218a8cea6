// Plane rotations made from the numbers that they turn, on the host, as the reference BLAS makes
// them.
#pragma once

#include "base/result.h"
#include "kernelmill/blas.h"

namespace km {

/// c and s with [c s; -conj(s) c] (a, b) = (r, 0). r goes to a and, for real types, to b what c and
/// s can be found from again. `c` is real.
Status make_rotation(km_data_type type, void* a, void* b, void* c, void* s);

/// The five parameters of km_blas_rotm that turn (sqrt(d1) x1, sqrt(d2) y1) so that the second
/// number becomes 0; d1, d2 and x1 become those of the result. Real types.
Status make_modified_rotation(km_data_type type, void* d1, void* d2, void* x1, const void* y1,
                              void* parameters);

}  // namespace km
