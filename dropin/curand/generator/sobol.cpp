#include "dropin/curand/generator/sobol.h"

#include <bit>
#include <vector>

// Bits, lowest first, for dimensions 1 and up: the inner coefficients of the primitive polynomial,
// from the lowest power, then each initial number without its lowest bit, which is 1.
asm(R"(  // tidy: architecture: directives alone, without an instruction
  .section .rodata
  .local km_joe_kuo
km_joe_kuo:
  .incbin "joe_kuo_6_20000.bin"
  .byte 0
  .previous
)");
extern "C" [[gnu::visibility("hidden")]] const unsigned char km_joe_kuo[];

namespace km::curand {
namespace {

constexpr uint32_t kBits = 64;

class BitReader {
 public:
  uint32_t take(uint32_t count) {
    uint32_t value = 0;
    for (uint32_t i = 0; i < count; ++i, ++at_) {
      value |= (uint32_t{km_joe_kuo[at_ / 8]} >> at_ % 8 & 1) << i;
    }
    return value;
  }

 private:
  size_t at_ = 0;
};

/// The degree of a dimension's polynomial: dimensions use all primitive polynomials in order of
/// their degrees.
uint32_t degree_of(uint32_t dimension) {
  constexpr uint32_t kPolynomials[] = {1,  1,   2,   2,   6,   6,    18,   16,  48,
                                       60, 176, 144, 630, 756, 1800, 2048, 7710};
  uint32_t degree = 1, end = 1;
  for (const uint32_t count : kPolynomials) {
    end += count;
    if (dimension < end) return degree;
    ++degree;
  }
  return degree;
}

/// Computes a row by Bratley and Fox's recurrence: each word follows from the preceding `degree`
/// words.
void put_row(BitReader& reader, uint32_t degree, uint64_t* row) {
  const uint32_t inner = reader.take(degree - 1);
  for (uint32_t i = 0; i < degree; ++i) {
    row[i] = uint64_t{reader.take(i) << 1 | 1} << (kBits - 1 - i);
  }
  for (uint32_t i = degree; i < kBits; ++i) {
    row[i] = row[i - degree] ^ row[i - degree] >> degree;
    for (uint32_t k = 1; k < degree; ++k) {
      if ((inner >> (degree - 1 - k) & 1) != 0) row[i] ^= row[i - k];
    }
  }
}

std::vector<uint64_t> plain_directions() {
  std::vector<uint64_t> rows(size_t{kMostDimensions} * kBits);
  for (uint32_t i = 0; i < kBits; ++i) rows[i] = uint64_t{1} << (kBits - 1 - i);
  BitReader reader;
  for (uint32_t dimension = 1; dimension < kMostDimensions; ++dimension) {
    put_row(reader, degree_of(dimension), &rows[size_t{dimension} * kBits]);
  }
  return rows;
}

/// Word `index` of the random numbers that scramble a dimension (splitmix64, with Vigna's
/// constants).
uint64_t scramble_word(uint32_t dimension, uint32_t index) {
  uint64_t x = (uint64_t{dimension} * (kBits + 1) + index + 1) * 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

/// Matoušek's scrambling: the words multiplied by a random lower triangular matrix with a unit
/// diagonal.
std::vector<uint64_t> scrambled_directions() {
  std::vector<uint64_t> rows = plain_directions();
  for (uint32_t dimension = 0; dimension < kMostDimensions; ++dimension) {
    uint64_t matrix[kBits];  // by rows; row r computes bit r from the top
    for (uint32_t r = 0; r < kBits; ++r) {
      const uint64_t diagonal = uint64_t{1} << (kBits - 1 - r);
      matrix[r] = (scramble_word(dimension, r + 1) & ~(diagonal * 2 - 1)) | diagonal;
    }
    uint64_t* const row = &rows[size_t{dimension} * kBits];
    for (uint32_t i = 0; i < kBits; ++i) {
      uint64_t scrambled = 0;
      for (uint32_t r = 0; r < kBits; ++r) {
        scrambled = scrambled << 1 | static_cast<uint64_t>(std::popcount(matrix[r] & row[i]) & 1);
      }
      row[i] = scrambled;
    }
  }
  return rows;
}

/// The upper halves of the first 32 of every 64 words.
std::vector<uint32_t> upper_halves(const uint64_t* rows) {
  std::vector<uint32_t> halves(size_t{kMostDimensions} * 32);
  for (size_t i = 0; i < halves.size(); ++i) {
    halves[i] = static_cast<uint32_t>(rows[i / 32 * kBits + i % 32] >> 32);
  }
  return halves;
}

std::vector<uint64_t> scrambles() {
  std::vector<uint64_t> words(kMostDimensions);
  for (uint32_t i = 0; i < kMostDimensions; ++i) words[i] = scramble_word(i, 0);
  return words;
}

/// The result of `maker`, computed once and never destroyed.
template <auto maker>
const auto& kept() {
  static const auto& value = *new auto(maker());
  return value;
}

std::vector<uint32_t> plain_halves() { return upper_halves(sobol_directions64(false)); }
std::vector<uint32_t> scrambled_halves() { return upper_halves(sobol_directions64(true)); }
std::vector<uint32_t> scramble_halves() {
  std::vector<uint32_t> halves;
  for (const uint64_t word : kept<scrambles>()) halves.push_back(static_cast<uint32_t>(word >> 32));
  return halves;
}

}  // namespace

const uint64_t* sobol_directions64(bool is_scrambled) {
  return is_scrambled ? kept<scrambled_directions>().data() : kept<plain_directions>().data();
}
const uint32_t* sobol_directions32(bool is_scrambled) {
  return is_scrambled ? kept<scrambled_halves>().data() : kept<plain_halves>().data();
}
const uint64_t* sobol_scrambles64() { return kept<scrambles>().data(); }
const uint32_t* sobol_scrambles32() { return kept<scramble_halves>().data(); }

}  // namespace km::curand
