#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "backends/cpu/blas/half_gemm.h"
#include "base/half_float.h"

// 12 rows of 2 vectors: 24 sums, and 8 registers for the rest.
#define KM_HALF __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,f16c,fma")))

namespace km::cpu {
namespace {

using Vector = __m512;
constexpr uint64_t kLanes = 16, kRows = 12;
// GCC 12 warns about its own intrinsics without a mask.
constexpr __mmask16 kAll = 0xFFFF;

KM_HALF inline Vector load(const float* from) { return _mm512_loadu_ps(from); }
KM_HALF inline void store(float* to, Vector value) { _mm512_storeu_ps(to, value); }
KM_HALF inline Vector broadcast(float value) { return _mm512_set1_ps(value); }
KM_HALF inline Vector multiply(Vector a, Vector b) { return _mm512_mul_ps(a, b); }
KM_HALF inline Vector multiply_add(Vector a, Vector b, Vector c) {
  return _mm512_fmadd_ps(a, b, c);
}

KM_HALF inline Vector widen(const uint16_t* from, bool is_bfloat) {
  const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  if (!is_bfloat) return _mm512_maskz_cvtph_ps(kAll, bits);
  return _mm512_castsi512_ps(
      _mm512_maskz_slli_epi32(kAll, _mm512_maskz_cvtepu16_epi32(kAll, bits), 16));
}

KM_HALF inline void narrow(uint16_t* to, Vector value, bool is_bfloat) {
  __m256i bits;
  if (is_bfloat) {
    const __m512i all = _mm512_castps_si512(value);
    const __m512i even =
        _mm512_and_si512(_mm512_maskz_srli_epi32(kAll, all, 16), _mm512_set1_epi32(1));
    __m512i rounded = _mm512_add_epi32(all, _mm512_add_epi32(even, _mm512_set1_epi32(0x7fff)));
    const __mmask16 is_nan = _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q);
    rounded = _mm512_mask_or_epi32(rounded, is_nan, all, _mm512_set1_epi32(0x400000));
    bits = _mm512_maskz_cvtepi32_epi16(kAll, _mm512_maskz_srli_epi32(kAll, rounded, 16));
  } else {
    bits = _mm512_maskz_cvtps_ph(kAll, value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  }
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), bits);
}

#include "backends/cpu/blas/half_gemm_kernel.inc"

}  // namespace

void half_product_widest(const HalfProduct& part, HalfWorkspace& work) {
  multiply_part(part, work);
}

}  // namespace km::cpu
