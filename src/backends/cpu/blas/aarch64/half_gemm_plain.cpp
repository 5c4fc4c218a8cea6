#include <arm_neon.h>

#include <algorithm>
#include <cstring>

#include "backends/cpu/blas/half_gemm.h"
#include "base/half_float.h"

// 4 rows of 2 vectors: 8 sums, and 24 registers for the rest.
#define KM_HALF

namespace km::cpu {
namespace {

using Vector = float32x4_t;
constexpr uint64_t kLanes = 4, kRows = 4;

KM_HALF inline Vector load(const float* from) { return vld1q_f32(from); }
KM_HALF inline void store(float* to, Vector value) { vst1q_f32(to, value); }
KM_HALF inline Vector broadcast(float value) { return vdupq_n_f32(value); }
KM_HALF inline Vector multiply(Vector a, Vector b) { return vmulq_f32(a, b); }
KM_HALF inline Vector multiply_add(Vector a, Vector b, Vector c) { return vfmaq_f32(c, a, b); }

KM_HALF inline Vector widen(const uint16_t* from, bool is_bfloat) {
  alignas(16) float lanes[kLanes];
  for (uint64_t i = 0; i < kLanes; ++i) {
    lanes[i] = is_bfloat ? float_of_bfloat(from[i]) : float_of_half(from[i]);
  }
  return load(lanes);
}

KM_HALF inline void narrow(uint16_t* to, Vector value, bool is_bfloat) {
  alignas(16) float lanes[kLanes];
  store(lanes, value);
  for (uint64_t i = 0; i < kLanes; ++i) {
    to[i] = is_bfloat ? bfloat_of_float(lanes[i]) : half_of_float(lanes[i]);
  }
}

#include "backends/cpu/blas/half_gemm_kernel.inc"

}  // namespace

void half_product_plain(const HalfProduct& part, HalfWorkspace& work) { multiply_part(part, work); }

}  // namespace km::cpu
