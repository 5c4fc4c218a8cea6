// The first states of the sequences of a generator, computed on the host: jumps are powers of the
// generators' matrices.
#pragma once

#include <cstdint>
#include <vector>

#include "dropin/curand/kernels/parameters.h"

namespace km::curand {

constexpr uint32_t kSequences = 4096;  // of XORWOW, and of MRG32k3a in its legacy ordering
constexpr uint32_t kMrgSequences = 81920;
constexpr uint32_t kPhiloxSequences = 65536;

/// States of XORWOW: sequence t begins 2^67 t steps after the seed's state, and `skipped` numbers
/// of the generator have been taken from all of them in turn.
std::vector<uint32_t> xorwow_states(uint64_t seed, uint64_t skipped);
/// States of XORWOW: sequence t is the first one of the seed that is 3133713 t higher.
std::vector<uint32_t> seeded_xorwow_states(uint64_t seed, uint64_t skipped);
/// The states of MRG32k3a, whose sequences are 2^76 steps apart.
std::vector<uint32_t> mrg32k3a_states(uint64_t seed, uint64_t skipped, uint32_t sequences);
/// Counters of Philox's sequences, which give four numbers each in turn.
std::vector<uint64_t> philox_states(uint64_t skipped);

}  // namespace km::curand
