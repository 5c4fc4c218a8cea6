#include "simt/runtime/tensors/shared_operand.h"

#include <cstring>

namespace km::simt {
namespace {

constexpr uint32_t kPieceBytes = 16, kCoreRows = 8;

/// A descriptor's field of 14 bits, which is in units of 16 bytes, as bytes.
uint32_t bytes_of_field(uint64_t descriptor, uint32_t shift) {
  return static_cast<uint32_t>(descriptor >> shift & 0x3fff) << 4;
}

}  // namespace

SharedOperand::SharedOperand(uint64_t descriptor)
    : start_(bytes_of_field(descriptor, 0)),
      leading_bytes_(bytes_of_field(descriptor, 16)),
      stride_bytes_(bytes_of_field(descriptor, 32)),
      base_offset_(static_cast<uint32_t>(descriptor >> 49 & 7)) {
  constexpr uint32_t kSpans[] = {16, 128, 128, 0, 64, 0, 32, 0};
  const uint64_t mode = descriptor >> 61;
  span_ = kSpans[mode];
  has_wide_atoms_ = mode == 1;
}

/// The pattern exchanges pieces (or pairs of them) by the number of their 128-byte row.
uint32_t SharedOperand::swizzled(uint32_t offset) const {
  const uint32_t row = (offset >> 7) - base_offset_;
  offset ^= has_wide_atoms_ ? (row & 3) << 5 : (row & (span_ / kPieceBytes - 1)) << 4;
  return offset & 0x3ffff;
}

uint32_t SharedOperand::offset_in_row(uint32_t row, uint32_t piece) const {
  const uint32_t pieces = span_ / kPieceBytes;
  return swizzled(start_ + row / kCoreRows * stride_bytes_ + row % kCoreRows * span_ +
                  piece % pieces * kPieceBytes + piece / pieces * leading_bytes_);
}

uint32_t SharedOperand::offset_in_line(uint32_t line, uint32_t piece) const {
  const uint32_t pieces = span_ / kPieceBytes, rows = has_wide_atoms_ ? 4 : kCoreRows;
  const uint32_t within = line % rows * span_ + piece % pieces * kPieceBytes;
  const uint32_t across = piece / pieces, along = line / rows;
  if (pieces == 1)
    return swizzled(start_ + within + across * stride_bytes_ + along * leading_bytes_);
  return swizzled(start_ + within + across * leading_bytes_ + along * stride_bytes_);
}

void gather(const SharedOperand& operand, const uint8_t* shared, bool is_transposed, uint32_t rows,
            uint32_t row_bytes, uint32_t element_bytes, uint8_t* out) {
  if (!is_transposed) {
    for (uint32_t row = 0; row < rows; ++row) {
      for (uint32_t piece = 0; piece < row_bytes / kPieceBytes; ++piece) {
        std::memcpy(out + row * row_bytes + piece * kPieceBytes,
                    shared + operand.offset_in_row(row, piece), kPieceBytes);
      }
    }
    return;
  }
  const uint32_t elements = kPieceBytes / element_bytes;
  for (uint32_t line = 0; line < row_bytes / element_bytes; ++line) {
    for (uint32_t piece = 0; piece < rows / elements; ++piece) {
      const uint8_t* from = shared + operand.offset_in_line(line, piece);
      uint8_t* to = out + piece * elements * row_bytes + line * element_bytes;
      for (uint32_t i = 0; i < elements; ++i) {
        std::memcpy(to + i * row_bytes, from + i * element_bytes, element_bytes);
      }
    }
  }
}

}  // namespace km::simt
