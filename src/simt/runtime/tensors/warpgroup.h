// The warpgroup product wgmma.mma_async (TensorRuntime::wgmma), and its matrix layouts in shared
// memory.
#pragma once

#include <cstdint>

#include "simt/runtime/mma.h"

namespace km::simt {

/// One form of the instruction, a constant of the object.
struct WgmmaForm {
  uint32_t line = 0;  // line in the PTX text
  MmaForm warp;       // the product of 16 rows and 8 or 16 columns that all others are composed of
  uint16_t n = 0;     // number of columns
  uint16_t d_registers = 0;
  bool a_in_shared = false;
  bool negates_a = false, negates_b = false;
  bool a_by_columns = false, b_by_rows = false;  // MN-major in shared memory
  uint8_t reserved = 0;
};

/// Core matrices have 8 lines of 16 bytes.
constexpr uint32_t kWgmmaCoreLines = 8, kWgmmaLineBytes = 16;

/// The first registers of each operand of a product: of D, of A unless it is in shared memory, and
/// of the metadata.
constexpr uint32_t kWgmmaSums = 0, kWgmmaFactors = 128, kWgmmaMetadata = 132, kWgmmaRegisters = 133;

/// A matrix descriptor (PTX ISA, "Matrix descriptor format"), which locates a matrix in shared
/// memory. Core matrices have 8 lines of 16 bytes.
class SharedMatrix {
 public:
  /// `by_lines`: lines run along k; otherwise along the rows of A or columns of B.
  SharedMatrix(uint64_t descriptor, bool by_lines);

  /// The offset in shared memory of line `line` of the core matrix (`unit`, `unit_k`), counted in
  /// units of 8 rows of A or columns of B, and of 16 bytes (8 elements if not by lines) of k.
  uint32_t line_offset(uint32_t unit, uint32_t unit_k, uint32_t line) const;

 private:
  uint32_t start_, leading_bytes_, stride_bytes_, base_offset_;
  uint32_t swizzle_bytes_;  // 16: no swizzle
  bool by_lines_;
};

/// The operands of a warp that are not registers.
struct WgmmaWarp {
  const uint8_t* shared = nullptr;  // start of shared memory
  uint32_t index = 0;               // number of the warp in its warpgroup
  uint64_t a_descriptor = 0, b_descriptor = 0;
  bool adds = true;  // false: the sums start at zero
};

/// The rounding rule of wgmma on compute capability 9.0.
MmaRule wgmma_rule(MmaType multiplicand);

/// D = A * B + D of one warp. `registers` has kWgmmaRegisters registers of 32 lanes each.
void wgmma(const WgmmaForm& form, const MmaRule& rule, const WgmmaWarp& warp, uint32_t* registers);

}  // namespace km::simt
