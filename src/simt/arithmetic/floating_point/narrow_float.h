// The floating-point formats of 4 to 8 bits, and rounding by random bits.
#pragma once

#include "simt/arithmetic/lanes.h"

namespace km::simt::arithmetic {

/// A format of `width` bits, which takes `storage` bits in pairs and fours.
struct NarrowFormat {
  unsigned width, storage;
  unsigned fraction;  // number of fraction bits
  int bias;
  uint32_t most;      // bits of the largest finite number
  uint32_t infinity;  // bits of infinity; 0: none
  uint32_t nan;       // bits that NaN becomes

  /// The number of fraction bits of f32 that normal numbers of the format lack.
  unsigned dropped() const { return 23 - fraction; }
  /// The bias of f32 minus that of the format.
  uint32_t bias_difference() const { return static_cast<uint32_t>(127 - bias); }
};

/// The format of a pair or four of narrow numbers; null for other types.
const NarrowFormat* narrow_format(ptx::Type type);

/// The magnitude of f32 in a format with `fraction` bits of fraction, rounded by .rs: `random_bits`
/// bits in 32-bit lanes are added right below the last place and the sum is truncated. Numbers
/// beyond the format give codes beyond it; the caller handles NaN.
V stochastic_magnitude(Lanes& l, V real, V random, unsigned random_bits, unsigned fraction,
                       uint32_t bias_difference);

}  // namespace km::simt::arithmetic
