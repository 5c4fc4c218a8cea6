// Computes the parameters of plane rotations on the host, like the reference BLAS.
#pragma once

#include "base/result.h"
#include "kernelmill/blas.h"

namespace km {

/// Computes c and s with [c s; -conj(s) c] (a, b) = (r, 0). a becomes r; for real types b becomes
/// the value z from which c and s can be reconstructed. `c` is real.
Status make_rotation(km_data_type type, void* a, void* b, void* c, void* s);

/// Computes the five parameters of km_blas_rotm that rotate (sqrt(d1) x1, sqrt(d2) y1) so that the
/// second number becomes 0; d1, d2 and x1 receive the result's. Real types only.
Status make_modified_rotation(km_data_type type, void* d1, void* d2, void* x1, const void* y1,
                              void* parameters);

}  // namespace km
