// The instruction descriptor of tcgen05.mma, decoded and checked.
#pragma once

#include "simt/runtime/mma_form.h"
#include "simt/runtime/tensors/tensor_core_form.h"

namespace km::simt {

/// The elements of a multiplicand as memory has them.
enum class FactorElement : uint8_t { f16, bf16, tf32, e4m3, e5m2, e2m3, e3m2, e2m1, s8, u8 };

/// The bits of an element in shared memory without padding.
constexpr uint32_t element_bits(FactorElement element) {
  switch (element) {
    case FactorElement::tf32:
      return 32;
    case FactorElement::f16:
    case FactorElement::bf16:
      return 16;
    case FactorElement::e2m3:
    case FactorElement::e3m2:
      return 6;
    case FactorElement::e2m1:
      return 4;
    default:
      return 8;
  }
}

/// One product D = A * B + D.
struct TensorProductPlan {
  uint32_t m = 0, n = 0;  // of all blocks
  uint32_t k = 0;
  uint32_t blocks = 1;      // 2: a pair
  uint32_t groups = 1;      // D's columns lie in this many groups of lanes
  bool half_lanes = false;  // only lanes 0 to 15, or 16 to 31, of each 32 hold rows
  FactorElement a = FactorElement::f16, b = FactorElement::f16;
  MmaType d = MmaType::f32;
  bool negates_a = false, negates_b = false, transposes_a = false, transposes_b = false;
  bool saturates = false;
  bool sparse = false;                      // rows of A have half of k
  uint32_t selector = 0;                    // of the metadata's column
  bool packs_pairs = false;                 // two elements of 4 bits in each byte
  bool scales_are_e4m3 = false;             // otherwise ue8m0
  uint32_t scale_a_id = 0, scale_b_id = 0;  // bytes in the words of scales

  uint32_t rows() const { return m / blocks; }  // of each block
  uint32_t group_columns() const { return n / groups; }
  uint32_t group_lanes() const { return kTensorLanes / groups; }
  /// The lane, after the first one, of a row of its block in the first group.
  uint32_t lane_of(uint32_t row) const { return half_lanes ? row / 16 * 32 + row % 16 : row; }
  /// The elements of a row of A in memory.
  uint32_t stored_k() const { return sparse ? k / 2 : k; }
};

/// Decodes a descriptor for an instruction; `plan` is complete if the result is `none`.
TensorProblem plan_product(const TensorCoreForm& form, uint32_t descriptor,
                           TensorProductPlan* plan);

}  // namespace km::simt
