// Tiled level 3 routines: matrices in the memory of the host or of any device pass through the
// handle's devices. Each function returns when its result has been written.
#pragma once

#include "dropin/cublas/xt/devices.h"

namespace km::cublas {

struct XtProduct {
  km_data_type type;
  cublasOperation_t operation_a, operation_b;
  uint64_t m, n, k;
  Number alpha, beta;
  XtMatrix a, b, c;
};
/// C = alpha op(A) op(B) + beta C.
cublasStatus_t xt_gemm(XtHandle& handle, const XtProduct& product);

struct XtRankUpdate {
  km_data_type type;
  bool is_hermitian;
  bool is_twofold;  // syr2k and her2k
  cublasFillMode_t triangle;
  cublasOperation_t operation;
  uint64_t n, k;
  Number alpha, beta;
  XtMatrix a, b, c;
};
/// A triangle of alpha op(A) op(B)^T + beta C; if `is_twofold`, the product with A and B exchanged
/// is added.
cublasStatus_t xt_rank_update(XtHandle& handle, const XtRankUpdate& update);

struct XtSymmetric {
  km_data_type type;
  bool is_hermitian;
  cublasSideMode_t side;
  cublasFillMode_t triangle;
  uint64_t m, n;
  Number alpha, beta;
  XtMatrix a, b, c;
};
/// C = alpha A B + beta C, or alpha B A + beta C. Only one triangle of A is stored.
cublasStatus_t xt_symm(XtHandle& handle, const XtSymmetric& product);

struct XtTriangular {
  km_data_type type;
  bool is_solve;  // trsm, which overwrites B
  cublasSideMode_t side;
  cublasFillMode_t triangle;
  cublasOperation_t operation;
  cublasDiagType_t diagonal;
  uint64_t m, n;
  Number alpha;
  XtMatrix a, b, c;
};
/// C = alpha op(A) B, or alpha B op(A). If `is_solve`, C is the solution of op(A) X = alpha B, or X
/// op(A) = alpha B.
cublasStatus_t xt_triangular(XtHandle& handle, const XtTriangular& problem);

}  // namespace km::cublas
