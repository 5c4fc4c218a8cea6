#include "dropin/curand/generator/mt19937.h"

#include <array>
#include <bit>
#include <cstddef>

namespace km::curand {
namespace {

constexpr size_t kDegree = 19937, kMiddle = 397, kWords = kTwisterWords;
constexpr uint32_t kMatrix = 0x9908b0df;
constexpr size_t kPolynomialWords = (kDegree + 63) / 64;
/// A product before its reduction: twice as many words, and a padding word that is never read.
using Product = std::array<uint64_t, 2 * kPolynomialWords + 1>;
using Polynomial = std::array<uint64_t, kPolynomialWords>;

void add_shifted(Product& to, uint64_t word, size_t shift) {
  to[shift / 64] ^= word << (shift % 64);
  if (shift % 64 != 0) to[shift / 64 + 1] ^= word >> (64 - shift % 64);
}

Product times_binomial(const Product& from, size_t high, size_t low) {
  Product result{};
  for (size_t i = 0; i < kPolynomialWords; ++i) {
    add_shifted(result, from[i], i * 64 + high);
    add_shifted(result, from[i], i * 64 + low);
  }
  return result;
}

/// The exponents of the characteristic polynomial except the highest, by Matsumoto and Nishimura's
/// formula, a Horner scheme over the bits of the matrix's last row.
std::vector<size_t> characteristic_exponents() {
  Product sum{};
  sum[0] = 1;
  for (int bit = 0; bit < 31; ++bit) {
    sum = times_binomial(sum, kWords - 1, kMiddle - 1);
    sum[0] ^= kMatrix >> bit & 1;
  }
  sum = times_binomial(sum, kWords, kMiddle);
  sum[0] ^= kMatrix >> 31;
  std::vector<size_t> exponents;
  for (size_t i = 0; i < kDegree; ++i) {
    if ((sum[i / 64] >> (i % 64) & 1) != 0) exponents.push_back(i);
  }
  return exponents;
}

/// Reduces one word at a time, which is possible because the second highest exponent is more than
/// one word below the highest.
Polynomial reduced(Product& product, const std::vector<size_t>& exponents) {
  for (size_t i = 2 * kPolynomialWords; i-- > kPolynomialWords;) {
    const uint64_t word = product[i];
    product[i] = 0;
    for (const size_t exponent : exponents) {
      add_shifted(product, word, i * 64 - kDegree + exponent);
    }
  }
  uint64_t& last = product[kPolynomialWords - 1];
  const uint64_t above = last >> (kDegree % 64);
  last &= (uint64_t{1} << (kDegree % 64)) - 1;
  for (const size_t exponent : exponents) add_shifted(product, above, exponent);
  Polynomial result;
  for (size_t i = 0; i < kPolynomialWords; ++i) result[i] = product[i];
  return result;
}

/// Inserts a zero bit after each bit, which squares a polynomial over GF(2).
uint64_t spread(uint32_t bits) {
  uint64_t x = bits;
  x = (x | x << 16) & 0x0000ffff0000ffff;
  x = (x | x << 8) & 0x00ff00ff00ff00ff;
  x = (x | x << 4) & 0x0f0f0f0f0f0f0f0f;
  x = (x | x << 2) & 0x3333333333333333;
  return (x | x << 1) & 0x5555555555555555;
}

Polynomial squared(const Polynomial& polynomial, const std::vector<size_t>& exponents) {
  Product product{};
  for (size_t i = 0; i < kPolynomialWords; ++i) {
    product[2 * i] = spread(static_cast<uint32_t>(polynomial[i]));
    product[2 * i + 1] = spread(static_cast<uint32_t>(polynomial[i] >> 32));
  }
  return reduced(product, exponents);
}

void append_terms(TwisterJumps& jumps, const Polynomial& power) {
  for (size_t part = 0; part < kTwisterParts; ++part) {
    jumps.bounds.push_back(static_cast<uint32_t>(jumps.terms.size()));
    for (size_t i = part * kWords; i < (part + 1) * kWords && i < kDegree; ++i) {
      if ((power[i / 64] >> (i % 64) & 1) != 0) jumps.terms.push_back(static_cast<uint16_t>(i));
    }
  }
  jumps.bounds.push_back(static_cast<uint32_t>(jumps.terms.size()));
}

TwisterJumps make_jumps() {
  constexpr int kDistanceBits = 2048;
  const std::vector<size_t> exponents = characteristic_exponents();
  TwisterJumps jumps;
  Polynomial power{};
  power[0] = 2;  // x
  for (int i = 0; i < kDistanceBits; ++i) power = squared(power, exponents);
  for (int i = 0; i < kTwisterJumps; ++i) {
    append_terms(jumps, power);
    power = squared(power, exponents);
  }
  return jumps;
}

}  // namespace

const TwisterJumps& twister_jumps() {
  static const TwisterJumps& jumps = *new TwisterJumps(make_jumps());
  return jumps;
}

std::vector<uint32_t> twister_state(uint64_t seed) {
  std::vector<uint32_t> state(kWords);
  state[0] = static_cast<uint32_t>(seed);
  for (size_t i = 1; i < kWords; ++i) {
    const uint32_t last = state[i - 1];
    state[i] = 1812433253 * (last ^ last >> 30) + static_cast<uint32_t>(i);
  }
  for (size_t i = 0; i < kWords; ++i) {
    const uint32_t lower = state[(i + 1) % kWords];
    const uint32_t y = (state[i] & 0x80000000) | (lower & 0x7fffffff);
    state[i] = state[(i + kMiddle) % kWords] ^ y >> 1 ^ ((y & 1) != 0 ? kMatrix : 0);
  }
  return state;
}

}  // namespace km::curand
