// Direction numbers of Sobol's sequences by S. Joe and F. Y. Kuo, and how they are scrambled.
#pragma once

#include <cstddef>
#include <cstdint>

namespace km::curand {

constexpr uint32_t kMostDimensions = 20000;

/// kMostDimensions rows of 32 words, made by the first call; they stay for the process. For index
/// bit k, word k is added to the point without carries.
const uint32_t* sobol_directions32(bool is_scrambled);
/// kMostDimensions rows of 64 words with 64 bits: the upper halves of a row's first 32 words are
/// those of sobol_directions32.
const uint64_t* sobol_directions64(bool is_scrambled);

/// The point with the index 0 of each scrambled dimension.
const uint32_t* sobol_scrambles32();
const uint64_t* sobol_scrambles64();

}  // namespace km::curand
