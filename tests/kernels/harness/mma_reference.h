// What mma computes, in plain integers, and which lane holds which element, from the formulas of
// the PTX ISA (9.7.14.5). Shares nothing with the engine.
#pragma once

#include <cfenv>
#include <cstdint>
#include <string>
#include <vector>

namespace km::kernels {

enum class Number { f16, bf16, tf32, e4m3, e5m2, f32, f64, s8, u8, s4, u4, b1, s32 };

struct Traits {
  const char* name;
  uint32_t bits, exponent_bits, fraction_bits;  // as stored; the last two of floats only
};
Traits traits_of(Number number);
inline bool is_real(Number number) { return number <= Number::f32; }

/// A matrix of raw bits, row after row.
struct Matrix {
  uint32_t rows = 0, columns = 0;
  std::vector<uint64_t> bits;
  Matrix(uint32_t r, uint32_t c) : rows(r), columns(c), bits(uint64_t{r} * c) {}
  uint64_t& at(uint32_t row, uint32_t column) { return bits[uint64_t{row} * columns + column]; }
  uint64_t at(uint32_t row, uint32_t column) const {
    return bits[uint64_t{row} * columns + column];
  }
};

struct MmaCase {
  std::string instruction;  // with all modifiers and types
  uint32_t m, n, k;
  Number a, b, c, d;
  bool sparse = false, saturates = false, popc_and = false;
  uint32_t selector = 0;
  int rounding = FE_TONEAREST;  // of f64
};

/// How a device adds up (docs/reference/accuracy.md).
struct Rule {
  int fraction_bits = 25;
  uint32_t terms = 256;       // at once
  bool short_result = false;  // 13 bits
  bool fast = false;          // a chain of fused multiply-adds in f32 instead
};

/// D. Sparse forms give A with its zeros.
Matrix multiply(const MmaCase& test, const Rule& rule, const Matrix& a, const Matrix& b,
                const Matrix& c);

enum class Role { a, b, sum };
/// Words of all lanes: lane after lane, register after register (f64: two words each).
std::vector<uint32_t> to_fragments(Role role, Number number, const Matrix& matrix);
Matrix from_fragments(Number number, uint32_t rows, uint32_t columns,
                      const std::vector<uint32_t>& words);
uint32_t words_of(Role role, Number number, uint32_t rows, uint32_t columns);  // of a lane

}  // namespace km::kernels
