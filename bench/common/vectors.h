// Vectors as clang has them, one lane per CUDA thread: hand-written models of what a perfect
// vectoriser would emit for a kernel.
#pragma once

#include <cstdint>
#include <cstring>

namespace km::bench {

#if defined(__AVX512F__)
constexpr int kLanes = 16;
#else
constexpr int kLanes = 8;
#endif

template <int lanes>
using FloatsOf = float __attribute__((ext_vector_type(lanes)));
template <int lanes>
using IntsOf = int32_t __attribute__((ext_vector_type(lanes)));

/// One register, and a pair of them whose latencies overlap.
using Floats = FloatsOf<kLanes>;
using Ints = IntsOf<kLanes>;
using FloatPair = FloatsOf<2 * kLanes>;
using IntPair = IntsOf<2 * kLanes>;

template <class Vector>
inline Vector load(const float* from) {
  Vector value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class Vector>
inline void store(float* to, Vector value) {
  std::memcpy(to, &value, sizeof value);
}

/// 0, 1, 2 ... as numbers.
template <class Vector>
inline Vector lane_numbers() {
  Vector value;
  for (unsigned i = 0; i < sizeof value / 4; ++i) value[i] = static_cast<float>(i);
  return value;
}

}  // namespace km::bench
