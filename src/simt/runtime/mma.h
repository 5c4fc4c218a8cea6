// The matrix instructions mma and wmma.mma. docs/reference/accuracy.md describes their rounding.
#pragma once

#include <cstdint>

#include "simt/runtime/mma_form.h"

namespace km::simt {

/// The rule for sums of f16, bf16, tf32 and fp8 products, which PTX leaves to the hardware: the
/// terms of a step are aligned to the largest exponent, truncated to `fraction_bits` and added; the
/// sum is rounded and is a term of the next step.
struct MmaRule {
  uint32_t fraction_bits = 25;
  uint32_t step_bytes = 32;   // bytes of a row of A per step
  bool short_result = false;  // f32 results have only 13 fraction bits
  /// If set, the fields above are ignored and each sum is a chain of fused multiply-adds in f32, in
  /// the order of k. mma.m8n8k4 has no such rule.
  bool fast = false;
};

/// The rule of a device of this compute capability.
MmaRule mma_rule(uint32_t major, uint32_t minor, MmaType multiplicand);

/// D = A * B + C of one warp. `operands` has the registers of A, B, C and the metadata in sequence,
/// 32 lanes each (of 64 bits for f64); `results` has those of D.
void mma(const MmaForm& form, const MmaRule& rule, const uint32_t* operands, uint32_t* results);
/// Like mma(), with registers in `fragments`: those of A, B, C and the metadata at their places,
/// and those of D in sequence at the last place. D may share places with operands.
void mma_in_memory(const MmaForm& form, const MmaRule& rule, const uint32_t* places,
                   uint8_t* fragments);

}  // namespace km::simt
