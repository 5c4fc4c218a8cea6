// The memory in which a product of tensor cores prepares its operands. It is too large for the
// stacks of warps.
#pragma once

#include <cstdint>

namespace km::simt {

constexpr uint32_t kMostTensorColumns = 256;
constexpr uint32_t kMostTensorK = 128;  // elements, or bytes, of a row after widening

struct TensorCoreScratch {
  alignas(64) uint8_t raw[kMostTensorColumns * 64];                   // as gathered
  alignas(64) uint8_t a[128 * kMostTensorK];                          // rows of A
  alignas(64) uint8_t b[kMostTensorColumns * kMostTensorK];           // columns of B
  alignas(64) uint8_t values[kMostTensorColumns * kMostTensorK * 4];  // numbers of B
  alignas(64) int32_t exponents[kMostTensorColumns * kMostTensorK];
};

}  // namespace km::simt
