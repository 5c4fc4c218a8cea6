// The matrix instructions mma and wmma.mma. docs/reference/accuracy.md says how they round.
#pragma once

#include <cstdint>

#include "simt/runtime/mma_form.h"

namespace km::simt {

/// How sums of f16, bf16, tf32 and fp8 products are made, which PTX leaves to the hardware: the
/// terms of a step are aligned to the largest exponent, cut to `fraction_bits` and added up; the
/// sum is rounded and enters the next step.
struct MmaRule {
  uint32_t fraction_bits = 25;
  uint32_t step_bytes = 32;   // of a row of A that enter one step
  bool short_result = false;  // f32 results keep 13 bits only
  /// Instead of all this: a chain of fused multiply-adds in f32, in the order of k. Not for
  /// mma.m8n8k4.
  bool fast = false;
};

/// The rule of a device of this compute capability.
MmaRule mma_rule(uint32_t major, uint32_t minor, MmaType multiplicand);

/// D = A * B + C of one warp. `operands` are the registers of A, B, C and the metadata in turn,
/// each 32 lanes (of 64 bits for f64); `results` those of D.
void mma(const MmaForm& form, const MmaRule& rule, const uint32_t* operands, uint32_t* results);
/// mma() with registers that lie in `fragments`: those of A, B, C and the metadata each at its
/// place, those of D one after the other at the last one. D may share places with operands.
void mma_in_memory(const MmaForm& form, const MmaRule& rule, const uint32_t* places,
                   uint8_t* fragments);

}  // namespace km::simt
