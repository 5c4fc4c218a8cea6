// The first states of the sequences of a generator, computed on the host: jumps are powers of the
// generators' matrices.
#pragma once

#include <cstdint>
#include <vector>

#include "dropin/curand/kernels/parameters.h"

namespace km::curand {

/// States of XORWOW: sequence t begins 2^67 t steps after the seed's state, and `skipped` numbers
/// of the generator have been taken from all of them in turn.
std::vector<uint32_t> xorwow_states(uint64_t seed, uint64_t skipped);
/// The states of MRG32k3a, whose sequences are 2^76 steps apart.
std::vector<uint32_t> mrg32k3a_states(uint64_t seed, uint64_t skipped);

}  // namespace km::curand
