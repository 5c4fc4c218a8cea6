// Initial states of a generator's sequences, computed on the host: jumps are powers of the
// generator's transition matrix.
#pragma once

#include <cstdint>
#include <vector>

#include "dropin/curand/kernels/parameters.h"

namespace km::curand {

constexpr uint32_t kSequences = 4096;  // for XORWOW, and for MRG32k3a in the legacy ordering
constexpr uint32_t kMrgSequences = 81920;
constexpr uint32_t kPhiloxSequences = 65536;

/// XORWOW's states: sequence t starts 2^67 t steps after the seed's state, and `skipped` numbers
/// have been taken from all sequences in turn.
std::vector<uint32_t> xorwow_states(uint64_t seed, uint64_t skipped);
/// XORWOW's states for seeded sequences: sequence t is the first sequence of seed + 3133713 t.
std::vector<uint32_t> seeded_xorwow_states(uint64_t seed, uint64_t skipped);
/// MRG32k3a's states; sequences are 2^76 steps apart.
std::vector<uint32_t> mrg32k3a_states(uint64_t seed, uint64_t skipped, uint32_t sequences);
/// The counters of Philox's sequences, each of which yields four numbers in turn.
std::vector<uint64_t> philox_states(uint64_t skipped);

}  // namespace km::curand
