#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "backends/cpu/blas/half_gemm.h"
#include "base/half_float.h"

// 6 rows of 2 vectors: 12 sums, and 4 registers for the rest.
#define KM_HALF __attribute__((target("avx2,f16c,fma")))

namespace km::cpu {
namespace {

using Vector = __m256;
constexpr uint64_t kLanes = 8, kRows = 6;

KM_HALF inline Vector load(const float* from) { return _mm256_loadu_ps(from); }
KM_HALF inline void store(float* to, Vector value) { _mm256_storeu_ps(to, value); }
KM_HALF inline Vector broadcast(float value) { return _mm256_set1_ps(value); }
KM_HALF inline Vector multiply(Vector a, Vector b) { return _mm256_mul_ps(a, b); }
KM_HALF inline Vector multiply_add(Vector a, Vector b, Vector c) {
  return _mm256_fmadd_ps(a, b, c);
}

KM_HALF inline Vector widen(const uint16_t* from, bool is_bfloat) {
  const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  if (!is_bfloat) return _mm256_cvtph_ps(bits);
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}

KM_HALF inline void narrow(uint16_t* to, Vector value, bool is_bfloat) {
  if (is_bfloat) {
    alignas(32) float lanes[kLanes];
    store(lanes, value);
    for (uint64_t i = 0; i < kLanes; ++i) to[i] = bfloat_of_float(lanes[i]);
    return;
  }
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                   _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

#include "backends/cpu/blas/half_gemm_kernel.inc"

}  // namespace

void half_product_wide(const HalfProduct& part, HalfWorkspace& work) { multiply_part(part, work); }

}  // namespace km::cpu
