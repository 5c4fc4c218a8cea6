// MT19937's sequences: the initial state for a seed, and the distance between sequences.
#pragma once

#include <cstdint>
#include <vector>

#include "dropin/curand/kernels/parameters.h"

namespace km::curand {

constexpr int kTwisterJumps = 13;  // jump i leads from sequence t to sequence t + 2^i
constexpr int kTwisterParts = 32;  // kTwisterWords exponents each

/// Powers of x modulo MT19937's characteristic polynomial, with exponents 2^2048 times 2^i, one
/// after the other in the form for JumpParameters.
struct TwisterJumps {
  std::vector<uint16_t> terms;
  std::vector<uint32_t> bounds;  // indices into `terms`: kTwisterParts + 1 for each jump
};

/// Computed by the first call; exists until the process ends.
const TwisterJumps& twister_jumps();

/// The initial words of sequence 0, from which its first kTwisterWords numbers follow:
/// init_genrand() with the lower half of the seed.
std::vector<uint32_t> twister_state(uint64_t seed);

}  // namespace km::curand
