// What a fetch gives, in plain code: one lane, one texel after the other, exact numbers. GPUs'
// results in tests/gpu/golden are what it was made from.
#pragma once

#include "simt/runtime/image.h"

namespace km::simt::model {

/// Operands of one lane.
struct Operands {
  float at[3] = {};
  int32_t texel[3] = {};  // integer coordinates
  int32_t offset[3] = {};
  uint32_t layer = 0;
  float level = 0;
};

/// The four results, as bits.
void fetch(const Image& image, const ImageForm& form, const Operands& operands,
           uint32_t (&out)[kChannels]);

}  // namespace km::simt::model
