// Matrix products of f16 and bf16: elements are widened to f32 while they are packed, multiplied
// and added in f32 in the order of k, and rounded once at the end.
#pragma once

#include <cstdint>
#include <memory>

#include "backend/interface.h"
#include "backends/cpu/command/task.h"
#include "base/result.h"
#include "simt/engine.h"

namespace km::cpu {

Result<std::shared_ptr<const Task>> make_half_gemm_task(const kmb_blas_call& call,
                                                        uint32_t threads);

/// C = alpha A B + beta C with row-major C; A and B may be row-major or column-major.
struct HalfProduct {
  const uint16_t* a = nullptr;  // the element in the first row and column
  const uint16_t* b = nullptr;
  uint16_t* c = nullptr;
  uint64_t a_row = 0, a_depth = 0;  // strides in elements along rows and along k; one of them is 1
  uint64_t b_depth = 0, b_column = 0;  // as for a
  uint64_t c_row = 0;
  uint64_t rows = 0, columns = 0, depth = 0;
  float alpha = 0, beta = 0;
  bool is_bfloat = false;
};

// The largest part of a product that fits into the workspace.
constexpr uint64_t kHalfRows = 528, kHalfColumns = 512, kHalfDepth = 256;
// The pitch of packed rows; a power of two would map them to few cache sets.
constexpr uint64_t kHalfPitch = kHalfDepth + 16;
struct HalfWorkspace {
  alignas(64) float a[kHalfRows * kHalfPitch];
  alignas(64) float b[kHalfColumns * kHalfDepth];
  alignas(64) float sums[kHalfRows * kHalfColumns];
  alignas(64) float line[kHalfRows * 32];  // holds kHalfDepth * 32 or kHalfRows elements
};

/// One part, by the code of one KernelSet; all but the first give the same bits.
using HalfKernel = void(const HalfProduct& part, HalfWorkspace& work);
HalfKernel half_product_plain, half_product_wide, half_product_widest;

/// The code of the set, as far as the architecture has some of its own.
HalfKernel* half_kernel_of(simt::KernelSet set);

}  // namespace km::cpu
