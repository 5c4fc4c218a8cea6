// SplitMix64: random numbers from a state of 64 bits, for tests and orders, not for secrets.
#pragma once

#include <cstdint>

namespace km {

/// The next of the numbers that SplitMix64 draws.
inline uint64_t split_mix(uint64_t* state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

}  // namespace km
