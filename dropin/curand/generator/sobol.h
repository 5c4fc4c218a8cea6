// Direction numbers of Sobol sequences by S. Joe and F. Y. Kuo, and their scrambling.
#pragma once

#include <cstddef>
#include <cstdint>

namespace km::curand {

constexpr uint32_t kMostDimensions = 20000;

/// kMostDimensions rows of 32 words, computed by the first call and kept until the process ends.
/// For index bit k, word k is added to the point by exclusive or.
const uint32_t* sobol_directions32(bool is_scrambled);
/// kMostDimensions rows of 64 words of 64 bits. The upper halves of a row's first 32 words equal
/// sobol_directions32.
const uint64_t* sobol_directions64(bool is_scrambled);

/// The first point of each scrambled dimension, with index 0.
const uint32_t* sobol_scrambles32();
const uint64_t* sobol_scrambles64();

}  // namespace km::curand
