// Level 3 by tiles: matrices of the host or of any device go through the handle's devices. Each
// function returns when its result is written.
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
  bool is_twofold;  // syr2k, her2k
  cublasFillMode_t triangle;
  cublasOperation_t operation;
  uint64_t n, k;
  Number alpha, beta;
  XtMatrix a, b, c;
};
/// A triangle of alpha op(A) op(B)^T + beta C; twofold: and of the product with A and B exchanged.
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
/// C = alpha A B + beta C, or alpha B A + beta C, with a triangle of A.
cublasStatus_t xt_symm(XtHandle& handle, const XtSymmetric& product);

struct XtTriangular {
  km_data_type type;
  bool is_solve;  // trsm, where B is C
  cublasSideMode_t side;
  cublasFillMode_t triangle;
  cublasOperation_t operation;
  cublasDiagType_t diagonal;
  uint64_t m, n;
  Number alpha;
  XtMatrix a, b, c;
};
/// C = alpha op(A) B, or alpha B op(A); with a solution of op(A) X = alpha B, or X op(A) = alpha B.
cublasStatus_t xt_triangular(XtHandle& handle, const XtTriangular& problem);

}  // namespace km::cublas
