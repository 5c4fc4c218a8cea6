#include "simt/runtime/tensors/warpgroup.h"

#include <cstring>

#include "simt/abi.h"

namespace km::simt {
namespace {

constexpr uint32_t kCoreBytes = 128;
constexpr uint32_t kRegisterBytes = 4 * kWarpLanes;
constexpr uint32_t kMostRegisters = 4 + 8 + 8 + 1;  // A, B and C of one product, and the metadata
constexpr uint32_t kLowLineBits = 7;                // offsets within 128 bytes

/// A descriptor's field of 14 bits, which is in units of 16 bytes, as bytes.
uint32_t bytes_of_field(uint64_t descriptor, uint32_t shift) {
  return static_cast<uint32_t>(descriptor >> shift & 0x3fff) << 4;
}

/// The bits to flip in a register to negate its elements.
uint32_t sign_bits(MmaType type) {
  switch (element_bits(type)) {
    case 16:
      return 0x80008000;
    case 8:
      return 0x80808080;
    default:
      return 0x80000000;
  }
}

/// Transposes 8 x 8 elements of 16 bits.
void transpose(const uint16_t* from, uint16_t* to) {
  for (uint32_t i = 0; i < kWgmmaCoreLines; ++i) {
    for (uint32_t j = 0; j < kWgmmaCoreLines; ++j)
      to[i * kWgmmaCoreLines + j] = from[j * kWgmmaCoreLines + i];
  }
}

/// Loads a core matrix, which is one register over the 32 lanes: lane 4 * g + t has word t of line
/// g.
void load_core(const uint8_t* shared, const SharedMatrix& matrix, bool by_lines, uint32_t unit,
               uint32_t unit_k, uint32_t* words) {
  alignas(16) uint8_t core[kCoreBytes];
  for (uint32_t line = 0; line < kWgmmaCoreLines; ++line) {
    std::memcpy(core + line * kWgmmaLineBytes, shared + matrix.line_offset(unit, unit_k, line),
                kWgmmaLineBytes);
  }
  if (by_lines) {
    std::memcpy(words, core, kCoreBytes);
  } else {
    alignas(16) uint16_t elements[kCoreBytes / 2], turned[kCoreBytes / 2];
    std::memcpy(elements, core, kCoreBytes);
    transpose(elements, turned);
    std::memcpy(words, turned, kCoreBytes);
  }
}

void change_signs(uint32_t* words, uint32_t registers, uint32_t bits) {
  for (uint32_t i = 0; i < registers * kWarpLanes; ++i) words[i] ^= bits;
}

/// Loads the registers of A of a warp, ordered by rows, then k.
void load_a(const WgmmaForm& form, const WgmmaWarp& warp, const uint32_t* factors,
            uint32_t* words) {
  const uint32_t registers = form.warp.a_registers;
  if (form.a_in_shared) {
    const SharedMatrix matrix(warp.a_descriptor, !form.a_by_columns);
    for (uint32_t r = 0; r < registers; ++r) {
      load_core(warp.shared, matrix, !form.a_by_columns, 2 * warp.index + r % 2, r / 2,
                words + r * kWarpLanes);
    }
  } else {
    std::memcpy(words, factors, uint64_t{registers} * kRegisterBytes);
  }
  if (form.negates_a) change_signs(words, registers, sign_bits(form.warp.a));
}

/// Loads the registers of B for the columns of one product.
void load_b(const WgmmaForm& form, const WgmmaWarp& warp, const SharedMatrix& matrix,
            uint32_t first_column, uint32_t* words) {
  const uint32_t registers = form.warp.b_registers, units = form.warp.n / kWgmmaCoreLines;
  const uint32_t across = registers / units;
  for (uint32_t r = 0; r < registers; ++r) {
    load_core(warp.shared, matrix, !form.b_by_rows, first_column / kWgmmaCoreLines + r / across,
              r % across, words + r * kWarpLanes);
  }
  if (form.negates_b) change_signs(words, registers, sign_bits(form.warp.b));
}

}  // namespace

SharedMatrix::SharedMatrix(uint64_t descriptor, bool by_lines)
    : start_(bytes_of_field(descriptor, 0)),
      leading_bytes_(bytes_of_field(descriptor, 16)),
      stride_bytes_(bytes_of_field(descriptor, 32)),
      base_offset_(static_cast<uint32_t>(descriptor >> 49 & 7)),
      by_lines_(by_lines) {
  constexpr uint32_t kSpans[] = {16, 128, 64, 32};
  swizzle_bytes_ = kSpans[descriptor >> 62];
}

uint32_t SharedMatrix::line_offset(uint32_t unit, uint32_t unit_k, uint32_t line) const {
  const uint32_t units = swizzle_bytes_ / kWgmmaLineBytes;  // units per row of the swizzle pattern
  uint32_t offset = start_ + line * swizzle_bytes_;
  if (by_lines_) {
    offset +=
        unit * stride_bytes_ + unit_k % units * kWgmmaLineBytes + unit_k / units * leading_bytes_;
  } else if (units == 1) {
    offset += unit * stride_bytes_ + unit_k * leading_bytes_;
  } else {
    offset +=
        unit % units * kWgmmaLineBytes + unit / units * leading_bytes_ + unit_k * stride_bytes_;
  }
  const uint32_t row = (offset >> kLowLineBits) - base_offset_;
  offset ^= (row & (units - 1)) * kWgmmaLineBytes;
  return offset & 0x3ffff;
}

MmaRule wgmma_rule(MmaType multiplicand) {
  const bool narrow = multiplicand == MmaType::e4m3 || multiplicand == MmaType::e5m2;
  return narrow ? MmaRule{13, 32, true} : MmaRule{25, 32, false};
}

void wgmma(const WgmmaForm& form, const MmaRule& rule, const WgmmaWarp& warp, uint32_t* registers) {
  alignas(64) uint32_t operands[kMostRegisters * kWarpLanes];
  const MmaForm& part = form.warp;
  uint32_t* const b = operands + part.a_registers * kWarpLanes;
  uint32_t* const c = b + part.b_registers * kWarpLanes;
  uint32_t* const metadata = c + part.c_registers * kWarpLanes;
  const uint64_t sum_bytes = uint64_t{part.c_registers} * kRegisterBytes;
  load_a(form, warp, registers + kWgmmaFactors * kWarpLanes, operands);
  if (part.sparse) {
    std::memcpy(metadata, registers + kWgmmaMetadata * kWarpLanes, kRegisterBytes);
  }
  const SharedMatrix matrix(warp.b_descriptor, !form.b_by_rows);
  uint32_t* sums = registers + kWgmmaSums * kWarpLanes;
  for (uint32_t column = 0; column < form.n; column += part.n) {
    load_b(form, warp, matrix, column, b);
    if (warp.adds) {
      std::memcpy(c, sums, sum_bytes);
    } else {
      std::memset(c, 0, sum_bytes);
    }
    mma(part, rule, operands, sums);
    sums += part.c_registers * kWarpLanes;
  }
}

}  // namespace km::simt
