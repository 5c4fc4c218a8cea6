// Random numbers by Philox4x32-10, each from a seed and a position alone.
#pragma once

#include <array>

#include "dropin/cudnn/engine/step.h"

namespace km::cudnn {

/// Four words of the generator's output.
std::array<uint32_t, 4> philox(uint64_t seed, uint64_t position) noexcept;
/// A number in [0, 1).
inline double uniform(uint64_t seed, uint64_t position) noexcept {
  return philox(seed, position / 4)[position % 4] * 0x1p-32;
}

/// A distribution of the graph API.
struct RandomSettings {
  cudnnRngDistribution_t distribution = CUDNN_RNG_DISTRIBUTION_BERNOULLI;
  double probability = 0.5, mean = 0, deviation = 1, least = 0, most = 1;
};

/// Fills y with numbers of the seed, from position `offset` on. Both are tensors of one element, or
/// have no data and are `seed_value` and 0.
cudnnStatus_t fill_random(cu::CUstream stream, const RandomSettings& settings, int64_t seed_value,
                          const View& seed, const View& offset, const View& y);

}  // namespace km::cudnn
