// MT19937's sequences: the first state for a seed, and how far apart they are.
#pragma once

#include <cstdint>
#include <vector>

#include "dropin/curand/kernels/parameters.h"

namespace km::curand {

constexpr int kTwisterJumps = 13;  // the jump i leads from sequence t to sequence t + 2^i
constexpr int kTwisterParts = 32;  // kTwisterWords exponents each

/// The powers of x, modulo MT19937's characteristic polynomial, whose exponents are 2^2048 times
/// 2^i, as JumpParameters has them: one after the other.
struct TwisterJumps {
  std::vector<uint16_t> terms;
  std::vector<uint32_t> bounds;  // kTwisterParts + 1 for each jump, into `terms`
};

/// Made by the first call; it stays for the process.
const TwisterJumps& twister_jumps();

/// The words of sequence 0 that its first kTwisterWords numbers are made of, as init_genrand() of
/// the seed's lower half begins.
std::vector<uint32_t> twister_state(uint64_t seed);

}  // namespace km::curand
