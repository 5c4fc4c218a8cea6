// The number of floating-point operations of BLAS calls, for the profiles of all backends.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backend/interface.h"

namespace km {

/// The number of multiplications and additions of elements.
struct BlasCount {
  uint64_t multiplications = 0, additions = 0;
};

inline uint64_t blas_triangle(uint64_t n) { return n * (n + 1) / 2; }

inline BlasCount blas_vector_count(const kmb_blas_call& call) {
  switch (call.routine) {
    case KMB_BLAS_AXPY:
    case KMB_BLAS_DOT:
    case KMB_BLAS_DOTC:
    case KMB_BLAS_NRM2:
      return {call.n, call.n};
    case KMB_BLAS_SCAL:
      return {call.n, 0};
    case KMB_BLAS_ASUM:
      return {0, call.n};
    case KMB_BLAS_ROT:
    case KMB_BLAS_ROTM:
      return {4 * call.n, 2 * call.n};
    default:
      return {};  // COPY, SWAP and IAMAX compute nothing
  }
}

/// The number of matrix elements that a routine of level 2 uses; both halves of a symmetric matrix
/// count.
inline uint64_t blas_matrix_elements(const kmb_blas_call& call) {
  const uint64_t n = call.n, diagonals = std::max({call.k, call.lower, call.upper});
  switch (call.routine) {
    case KMB_BLAS_GBMV:
      return n * (call.lower + call.upper + 1);
    case KMB_BLAS_SYMV:
    case KMB_BLAS_SPMV:
      return n * n;
    case KMB_BLAS_SBMV:
      return n * (2 * diagonals + 1);
    case KMB_BLAS_TBMV:
    case KMB_BLAS_TBSV:
      return n * (diagonals + 1);
    case KMB_BLAS_SYR2:
    case KMB_BLAS_SPR2:
      return 2 * blas_triangle(n);
    case KMB_BLAS_TRMV:
    case KMB_BLAS_TPMV:
    case KMB_BLAS_TRSV:
    case KMB_BLAS_TPSV:
    case KMB_BLAS_SYR:
    case KMB_BLAS_SPR:
      return blas_triangle(n);
    default:
      return call.m * n;
  }
}

/// The number of multiplications of a routine of level 3.
inline uint64_t blas_product_count(const kmb_blas_call& call) {
  const uint64_t m = call.m, n = call.n;
  const bool is_left = call.side != KM_BLAS_SIDE_RIGHT;
  switch (call.routine) {
    case KMB_BLAS_SYMM:
    case KMB_BLAS_HEMM:
      return m * n * (is_left ? m : n);
    case KMB_BLAS_SYRK:
    case KMB_BLAS_HERK:
      return call.k * blas_triangle(n);
    case KMB_BLAS_SYR2K:
    case KMB_BLAS_HER2K:
      return 2 * call.k * blas_triangle(n);
    case KMB_BLAS_TRMM:
    case KMB_BLAS_TRSM:
      return is_left ? n * blas_triangle(m) : m * blas_triangle(n);
    default:
      return m * n * call.k;
  }
}

/// The operations of a call by LAPACK's rules: a complex multiplication counts 6, a complex
/// addition 2.
inline uint64_t blas_operations(const kmb_blas_call& call) {
  BlasCount count;
  if (call.routine <= KMB_BLAS_ROTM) {
    count = blas_vector_count(call);
  } else {
    const uint64_t each =
        call.routine < KMB_BLAS_GEMM ? blas_matrix_elements(call) : blas_product_count(call);
    count = {each, each};
  }
  const bool is_complex = call.type == KM_DATA_TYPE_C32 || call.type == KM_DATA_TYPE_C64;
  // These routines compute squares of both parts, or rotate by real numbers, so each part counts
  // like a real element.
  const bool is_by_parts = call.routine == KMB_BLAS_NRM2 || call.routine == KMB_BLAS_ROT;
  const uint64_t multiplication = !is_complex ? 1 : is_by_parts ? 2 : 6;
  const uint64_t addition = is_complex ? 2 : 1;
  return (count.multiplications * multiplication + count.additions * addition) *
         std::max<uint64_t>(call.batch_count, 1);
}

}  // namespace km
