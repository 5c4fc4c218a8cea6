#include "dropin/curand/sequences.h"

#include <array>
#include <cstddef>

namespace km::curand {
namespace {

/// How many numbers of a sequence are gone when `skipped` have been taken from all in turn.
uint64_t taken_of(uint64_t skipped, uint64_t sequence) {
  return skipped / kSequences + (sequence < skipped % kSequences ? 1 : 0);
}

constexpr int kBits = 160;
using BitVector = std::array<uint32_t, 5>;
/// Row i: the state that follows the one with bit i alone.
using BitMatrix = std::array<BitVector, kBits>;

BitVector apply(const BitMatrix& matrix, const BitVector& vector) {
  BitVector result{};
  for (size_t i = 0; i < kBits; ++i) {
    if ((vector[i / 32] >> (i % 32) & 1) == 0) continue;
    for (size_t word = 0; word < 5; ++word) result[word] ^= matrix[i][word];
  }
  return result;
}

BitMatrix square(const BitMatrix& matrix) {
  BitMatrix result;
  for (size_t i = 0; i < kBits; ++i) result[i] = apply(matrix, matrix[i]);
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

/// The vector `count` steps later.
BitVector skip(BitVector vector, uint64_t count) {
  BitMatrix power = one_step();
  for (; count != 0; count >>= 1) {
    if ((count & 1) != 0) vector = apply(power, vector);
    if (count > 1) power = square(power);
  }
  return vector;
}

constexpr uint64_t kModuli[2] = {4294967087, 4294944443};
using Triple = std::array<uint64_t, 3>;
using Matrix3 = std::array<Triple, 3>;

Triple apply(const Matrix3& matrix, const Triple& vector, uint64_t modulus) {
  Triple result{};
  for (size_t i = 0; i < 3; ++i) {
    for (size_t k = 0; k < 3; ++k) {
      result[i] = (result[i] + matrix[i][k] * vector[k] % modulus) % modulus;
    }
  }
  return result;
}

Matrix3 multiply(const Matrix3& a, const Matrix3& b, uint64_t modulus) {
  Matrix3 result{};
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      for (size_t k = 0; k < 3; ++k) {
        result[i][j] = (result[i][j] + a[i][k] * b[k][j] % modulus) % modulus;
      }
    }
  }
  return result;
}

Triple skip(const Matrix3& one, Triple vector, uint64_t count, uint64_t modulus) {
  for (Matrix3 power = one; count != 0; count >>= 1) {
    if ((count & 1) != 0) vector = apply(power, vector, modulus);
    power = multiply(power, power, modulus);
  }
  return vector;
}

}  // namespace

std::vector<uint32_t> xorwow_states(uint64_t seed, uint64_t skipped) {
  const uint32_t low = static_cast<uint32_t>(seed) ^ 0xaad26b49;
  const uint32_t high = static_cast<uint32_t>(seed >> 32) ^ 0xf7dcefdd;
  const uint32_t t0 = 1099087573 * low, t1 = 2591861531U * high;
  const uint32_t weyl = 6615241 + t1 + t0;
  const BitVector first = {123456789 + t0, 362436069 ^ t0, 521288629 + t1, 88675123 ^ t1,
                           5783321 + t0};
  BitMatrix jump = one_step();
  constexpr int kJumpBits = 67;
  for (int i = 0; i < kJumpBits; ++i) jump = square(jump);
  std::vector<uint32_t> states;
  states.reserve(size_t{kSequences} * kStateWords);
  // Sequences differ in what was taken by one number at most.
  const uint64_t whole = skipped / kSequences;
  BitVector current = skip(first, whole);
  for (uint64_t sequence = 0; sequence < kSequences; ++sequence) {
    const uint64_t taken = taken_of(skipped, sequence);
    const BitVector now = taken == whole ? current : step(current);
    states.insert(states.end(), now.begin(), now.end());
    states.push_back(weyl + 362437 * static_cast<uint32_t>(taken));
    current = apply(jump, current);
  }
  return states;
}

std::vector<uint32_t> mrg32k3a_states(uint64_t seed, uint64_t skipped) {
  constexpr Matrix3 kOne[2] = {{{{0, 1, 0}, {0, 0, 1}, {4294967087 - 810728, 1403580, 0}}},
                               {{{0, 1, 0}, {0, 0, 1}, {4294944443 - 1370589, 0, 527612}}}};
  constexpr int kJumpBits = 76;
  Triple current[2] = {{12345, 12345, 12345}, {12345, 12345, 12345}};
  const uint64_t low = static_cast<uint32_t>(seed) ^ 0x55555555U;
  const uint64_t high = static_cast<uint32_t>(seed >> 32) ^ 0xaaaaaaaaU;
  Matrix3 jump[2];
  for (size_t part = 0; part < 2; ++part) {
    const uint64_t modulus = kModuli[part];
    if (seed != 0) {
      const uint64_t even = part == 0 ? low : high, odd = part == 0 ? high : low;
      current[part] = {12345 * even % modulus, 12345 * odd % modulus, 12345 * even % modulus};
    }
    jump[part] = kOne[part];
    for (int i = 0; i < kJumpBits; ++i) jump[part] = multiply(jump[part], jump[part], modulus);
    current[part] = skip(kOne[part], current[part], skipped / kSequences, modulus);
  }
  std::vector<uint32_t> states;
  states.reserve(size_t{kSequences} * kStateWords);
  for (uint64_t sequence = 0; sequence < kSequences; ++sequence) {
    for (size_t part = 0; part < 2; ++part) {
      const bool is_ahead = taken_of(skipped, sequence) != skipped / kSequences;
      const Triple now = is_ahead ? apply(kOne[part], current[part], kModuli[part]) : current[part];
      for (const uint64_t word : now) states.push_back(static_cast<uint32_t>(word));
      current[part] = apply(jump[part], current[part], kModuli[part]);
    }
  }
  return states;
}

}  // namespace km::curand
