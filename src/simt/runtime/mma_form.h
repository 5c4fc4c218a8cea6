// The description of a matrix instruction that generated code passes to the runtime, and the
// mapping of fragment registers to matrix elements (RuntimeTable::mma).
//
// A register over the 32 lanes of a warp is a block of 8 rows: lane 4 * g + t holds part t of row g
// of A and C, or of column g of B. PTX specifies this for `mma`; `wmma`, whose layout PTX leaves
// open, is composed of the same blocks, as in hardware.
#pragma once

#include <cstdint>

namespace km::simt {

enum class MmaType : uint8_t {
  none,
  f16,
  bf16,
  tf32,
  e4m3,
  e5m2,
  f64,
  s8,
  u8,
  s4,
  u4,
  b1,
  f32,
  s32
};

constexpr uint32_t element_bits(MmaType type) {
  switch (type) {
    case MmaType::f64:
      return 64;
    case MmaType::f16:
    case MmaType::bf16:
      return 16;
    case MmaType::e4m3:
    case MmaType::e5m2:
    case MmaType::s8:
    case MmaType::u8:
      return 8;
    case MmaType::s4:
    case MmaType::u4:
      return 4;
    case MmaType::b1:
      return 1;
    default:
      return 32;
  }
}

/// The number of elements per lane and register.
constexpr uint32_t elements_per_register(MmaType type) {
  const uint32_t bits = element_bits(type);
  return bits >= 32 ? 1 : 32 / bits;
}

/// One form of the instruction; a constant of the object.
struct MmaForm {
  MmaType a = MmaType::none, b = MmaType::none, c = MmaType::none, d = MmaType::none;
  uint8_t m = 0, n = 0;
  uint16_t k = 0;
  uint8_t a_registers = 0, b_registers = 0, c_registers = 0, d_registers = 0;  // registers per lane
  // Rounding of f64, in MXCSR's encoding: 0 nearest, 1 down, 2 up, 3 toward zero.
  uint8_t rounding = 0;
  uint8_t selector = 0;  // sparse forms: selects the lanes that hold the metadata
  bool sparse = false;   // A holds half of k; its metadata follows C
  bool saturates = false;
  bool popc_and = false;  // b1: and; false: xor
  bool quads = false;     // mma.m8n8k4 of f16: four products with layouts of their own
  bool a_by_columns = false, b_by_rows = false;  // quads only
  bool wide = false;                             // the processor has AVX2 and FMA
  uint8_t reserved = 0;

  /// The number of stored elements per row of A.
  constexpr uint32_t stored_k() const { return sparse ? k / 2u : k; }
};

struct MmaBlock {
  uint32_t row = 0, column = 0;  // position of its first element
};

/// The position of register `index` of A: rows are those of m, columns those of k.
constexpr MmaBlock block_of_a(uint32_t m, uint32_t k, uint32_t per_register, uint32_t index) {
  const uint32_t width = 4 * per_register, across = k / width;
  if (m == 8) return {0, index % across * width};
  const uint32_t half = index % (2 * across), group = index / (2 * across) % (m / 16);
  return {16 * group + 8 * (half & 1), (half >> 1) * width};
}

/// The position of register `index` of B: rows are columns of B, columns are those of k.
constexpr MmaBlock block_of_b(uint32_t n, uint32_t k, uint32_t per_register, uint32_t index) {
  const uint32_t width = 4 * per_register, across = k / width;
  return {index / across % (n / 8) * 8, index % across * width};
}

/// The position of registers 2 * `pair` and 2 * `pair` + 1 (or packed register `pair`) of C and D:
/// lane 4 * g + t holds columns 2 * t and 2 * t + 1 of row g.
constexpr MmaBlock block_of_c(uint32_t m, uint32_t pair) {
  return {pair % (m / 8) * 8, pair / (m / 8) * 8};
}

}  // namespace km::simt
