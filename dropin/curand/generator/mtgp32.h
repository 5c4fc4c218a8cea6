// MTGP32's sequences: their parameters, and their states for a seed.
#pragma once

#include <cstdint>
#include <vector>

#include "dropin/curand/kernels/parameters.h"

namespace km::curand {

constexpr uint32_t kMtgpSequences = 192;
constexpr uint32_t kMtgpLegacySequences = 64;

/// kMtgpSequences parameter sets, published by Saito and Matsumoto.
const MtgpSet* mtgp32_sets();

/// The states of the kMtgpSequences sequences, kMtgpWords each, as curandMakeMTGP32KernelState
/// initialises them.
std::vector<uint32_t> mtgp32_states(uint64_t seed);

}  // namespace km::curand
