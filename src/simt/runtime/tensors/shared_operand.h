// Matrices in shared memory that a descriptor of tcgen05 locates (PTX ISA, "Shared memory
// descriptor").
#pragma once

#include <cstdint>

namespace km::simt {

/// The place and layout of a matrix. Pieces have 16 bytes; with 128-byte swizzles of 32-byte atoms
/// two pieces move together.
class SharedOperand {
 public:
  explicit SharedOperand(uint64_t descriptor);

  /// False for swizzle modes that do not exist.
  bool is_valid() const { return span_ != 0; }
  bool has_wide_atoms() const { return has_wide_atoms_; }
  /// The offset in shared memory of piece `piece` of row `row`: rows run along k.
  uint32_t offset_in_row(uint32_t row, uint32_t piece) const;
  /// The offset of piece `piece` of line `line`, whose elements have the same k.
  uint32_t offset_in_line(uint32_t line, uint32_t piece) const;

 private:
  uint32_t swizzled(uint32_t offset) const;

  uint32_t start_, leading_bytes_, stride_bytes_, base_offset_;
  uint32_t span_;  // bytes of a row of the swizzle pattern, 16: no swizzle
  bool has_wide_atoms_;
};

/// Copies a matrix to `rows` rows of `row_bytes` bytes, with all elements of one row side by side.
/// If it is transposed, the source's lines have elements of `element_bytes` of the same k.
void gather(const SharedOperand& operand, const uint8_t* shared, bool is_transposed, uint32_t rows,
            uint32_t row_bytes, uint32_t element_bytes, uint8_t* out);

}  // namespace km::simt
