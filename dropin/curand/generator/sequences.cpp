#include "dropin/curand/generator/sequences.h"

#include <array>
#include <cstddef>

namespace km::curand {
namespace {

/// The number of draws taken from one sequence when `skipped` draws have been taken from all
/// sequences in turn.
uint64_t taken_of(uint64_t skipped, uint64_t sequence, uint64_t sequences) {
  return skipped / sequences + (sequence < skipped % sequences ? 1 : 0);
}

constexpr int kBits = 160;
using BitVector = std::array<uint32_t, 5>;
/// A matrix over GF(2). Row i is the state that follows the state with only bit i set.
using BitMatrix = std::array<BitVector, kBits>;

BitVector times(const BitMatrix& matrix, const BitVector& vector) {
  BitVector result{};
  for (size_t i = 0; i < kBits; ++i) {
    if ((vector[i / 32] >> (i % 32) & 1) == 0) continue;
    for (size_t word = 0; word < 5; ++word) result[word] ^= matrix[i][word];
  }
  return result;
}

BitMatrix square(const BitMatrix& matrix) {
  BitMatrix result;
  for (size_t i = 0; i < kBits; ++i) result[i] = times(matrix, matrix[i]);
  return result;
}

BitVector step(const BitVector& v) {
  const uint32_t t = v[0] ^ (v[0] >> 2);
  return {v[1], v[2], v[3], v[4], (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1))};
}

BitMatrix one_step() {
  BitMatrix matrix;
  for (size_t i = 0; i < kBits; ++i) {
    BitVector bit{};
    bit[i / 32] = uint32_t{1} << (i % 32);
    matrix[i] = step(bit);
  }
  return matrix;
}

/// The matrix for `count` steps.
BitMatrix matrix_power(uint64_t count) {
  BitMatrix result{};
  for (size_t i = 0; i < kBits; ++i) result[i][i / 32] = uint32_t{1} << (i % 32);
  for (BitMatrix power = one_step(); count != 0; count >>= 1) {
    if ((count & 1) != 0) {
      for (BitVector& row : result) row = times(power, row);
    }
    if (count > 1) power = square(power);
  }
  return result;
}

/// XORWOW's initial state for a seed, and its Weyl sequence.
struct XorwowState {
  BitVector words;
  uint32_t weyl;
};
XorwowState xorwow_state(uint64_t seed) {
  const uint32_t low = static_cast<uint32_t>(seed) ^ 0xaad26b49;
  const uint32_t high = static_cast<uint32_t>(seed >> 32) ^ 0xf7dcefdd;
  const uint32_t t0 = 1099087573 * low, t1 = 2591861531U * high;
  return {{123456789 + t0, 362436069 ^ t0, 521288629 + t1, 88675123 ^ t1, 5783321 + t0},
          6615241 + t1 + t0};
}

/// Stores a state: word w of sequence t is at index w * kSequences + t.
void put_xorwow(std::vector<uint32_t>& states, size_t sequence, const BitVector& words,
                uint32_t weyl) {
  for (size_t word = 0; word < 5; ++word) states[word * kSequences + sequence] = words[word];
  states[5 * kSequences + sequence] = weyl;
}
constexpr uint32_t kWeylStep = 362437;

constexpr uint64_t kModuli[2] = {4294967087, 4294944443};
using Triple = std::array<uint64_t, 3>;
using Matrix3 = std::array<Triple, 3>;

/// Reduces a 64-bit number modulo 2^32 - d, where d has 15 bits: the upper half is worth d times
/// its value.
template <int part>
uint64_t reduced(uint64_t x) {
  constexpr uint64_t kRest = (uint64_t{1} << 32) - kModuli[part];
  x = (x >> 32) * kRest + static_cast<uint32_t>(x);
  x = (x >> 32) * kRest + static_cast<uint32_t>(x);
  return x >= kModuli[part] ? x - kModuli[part] : x;
}

template <int part>
Triple times(const Matrix3& matrix, const Triple& vector) {
  Triple result{};
  for (size_t i = 0; i < 3; ++i) {
    for (size_t k = 0; k < 3; ++k) {
      result[i] += reduced<part>(matrix[i][k] * vector[k]);
    }
    result[i] = reduced<part>(result[i]);
  }
  return result;
}

template <int part>
Matrix3 multiply(const Matrix3& a, const Matrix3& b) {
  Matrix3 result;
  for (size_t j = 0; j < 3; ++j) {
    const Triple column = times<part>(a, {b[0][j], b[1][j], b[2][j]});
    for (size_t i = 0; i < 3; ++i) result[i][j] = column[i];
  }
  return result;
}

/// Stores the states of one of the generator's two components: words from 3 * `part` on of each
/// sequence.
template <int part>
void put_mrg(std::vector<uint32_t>& states, Triple current, uint64_t skipped, uint64_t sequences) {
  constexpr Matrix3 kOne = part == 0
                               ? Matrix3{{{0, 1, 0}, {0, 0, 1}, {4294967087 - 810728, 1403580, 0}}}
                               : Matrix3{{{0, 1, 0}, {0, 0, 1}, {4294944443 - 1370589, 0, 527612}}};
  constexpr int kJumpBits = 76;
  Matrix3 jump = kOne;
  for (int i = 0; i < kJumpBits; ++i) jump = multiply<part>(jump, jump);
  Matrix3 power = kOne;
  for (uint64_t count = skipped / sequences; count != 0; count >>= 1) {
    if ((count & 1) != 0) current = times<part>(power, current);
    power = multiply<part>(power, power);
  }
  for (uint64_t sequence = 0; sequence < sequences; ++sequence) {
    const bool is_ahead = taken_of(skipped, sequence, sequences) != skipped / sequences;
    const Triple now = is_ahead ? times<part>(kOne, current) : current;
    for (size_t word = 0; word < 3; ++word) {
      states[(3 * part + word) * sequences + sequence] = static_cast<uint32_t>(now[word]);
    }
    current = times<part>(jump, current);
  }
}

}  // namespace

std::vector<uint32_t> xorwow_states(uint64_t seed, uint64_t skipped) {
  const XorwowState first = xorwow_state(seed);
  BitMatrix jump = one_step();
  constexpr int kJumpBits = 67;
  for (int i = 0; i < kJumpBits; ++i) jump = square(jump);
  std::vector<uint32_t> states(size_t{kSequences} * kStateWords);
  // The numbers of draws taken from two sequences differ by at most one.
  const uint64_t whole = skipped / kSequences;
  BitVector current = times(matrix_power(whole), first.words);
  for (uint64_t sequence = 0; sequence < kSequences; ++sequence) {
    const uint64_t taken = taken_of(skipped, sequence, kSequences);
    put_xorwow(states, sequence, taken == whole ? current : step(current),
               first.weyl + kWeylStep * static_cast<uint32_t>(taken));
    current = times(jump, current);
  }
  return states;
}

std::vector<uint32_t> seeded_xorwow_states(uint64_t seed, uint64_t skipped) {
  constexpr uint64_t kSeedStep = 3133713;
  std::vector<uint32_t> states(size_t{kSequences} * kStateWords);
  const BitMatrix whole = matrix_power(skipped / kSequences);
  for (uint64_t sequence = 0; sequence < kSequences; ++sequence) {
    const XorwowState first = xorwow_state(seed + sequence * kSeedStep);
    const uint64_t taken = taken_of(skipped, sequence, kSequences);
    const BitVector current = times(whole, first.words);
    put_xorwow(states, sequence, taken == skipped / kSequences ? current : step(current),
               first.weyl + kWeylStep * static_cast<uint32_t>(taken));
  }
  return states;
}

std::vector<uint32_t> mrg32k3a_states(uint64_t seed, uint64_t skipped, uint32_t sequences) {
  const uint64_t low = static_cast<uint32_t>(seed) ^ 0x55555555U;
  const uint64_t high = static_cast<uint32_t>(seed >> 32) ^ 0xaaaaaaaaU;
  Triple first[2] = {{12345, 12345, 12345}, {12345, 12345, 12345}};
  for (size_t part = 0; part < 2 && seed != 0; ++part) {
    const uint64_t even = part == 0 ? low : high, odd = part == 0 ? high : low;
    const uint64_t modulus = kModuli[part];
    first[part] = {12345 * even % modulus, 12345 * odd % modulus, 12345 * even % modulus};
  }
  std::vector<uint32_t> states(size_t{sequences} * kStateWords);
  put_mrg<0>(states, first[0], skipped, sequences);
  put_mrg<1>(states, first[1], skipped, sequences);
  return states;
}

std::vector<uint64_t> philox_states(uint64_t skipped) {
  std::vector<uint64_t> counters(kPhiloxSequences);
  for (uint64_t sequence = 0; sequence < kPhiloxSequences; ++sequence) {
    counters[sequence] = taken_of(skipped / 4, sequence, kPhiloxSequences);
  }
  return counters;
}

}  // namespace km::curand
