// The shape of a transform: its checks, and its dense layouts.
#pragma once

#include "base/result.h"
#include "core/blas/blas.h"

namespace km {

/// Checks every member of a shape, and returns it with complete layouts. No array of it has more
/// bytes than an address space has.
Result<km_fft_shape> complete_fft_shape(const km_fft_shape& given);

/// The bytes of one side of a complete shape, from its first element to its last.
BlasRegion fft_region(const km_fft_shape& shape, bool is_input);

}  // namespace km
