// BLAS of level 3: matrices.
#include "api/blas/blas_request.h"
#include "api/guard.h"

using namespace km;

namespace {

bool is_left(km_blas_side side) { return side == KM_BLAS_SIDE_LEFT; }

/// The arguments of a product of general matrices.
BlasRequest& product(BlasRequest& request, km_blas_operation operation_a,
                     km_blas_operation operation_b, uint64_t m, uint64_t n, uint64_t k,
                     const void* alpha, const km_blas_matrix* a, const km_blas_matrix* b,
                     const void* beta, const km_blas_matrix* c) {
  return request.operation("operation_a", operation_a, &kmb_blas_call::operation_a)
      .operation("operation_b", operation_b, &kmb_blas_call::operation_b)
      .m(m)
      .n(n)
      .k(k)
      .alpha(alpha)
      .a(a, is_plain(operation_a) ? m : k, is_plain(operation_a) ? k : m)
      .b(b, is_plain(operation_b) ? k : n, is_plain(operation_b) ? n : k)
      .beta(beta)
      .c_written(c, m, n);
}

/// The arguments of a product with a symmetric or Hermitian matrix.
BlasRequest& symmetric_product(BlasRequest& request, km_blas_side side, km_blas_triangle triangle,
                               uint64_t m, uint64_t n, const void* alpha, const km_blas_matrix* a,
                               const km_blas_matrix* b, const void* beta, const km_blas_matrix* c) {
  return request.side(side)
      .triangle(triangle)
      .m(m)
      .n(n)
      .alpha(alpha)
      .a(a, is_left(side) ? m : n, is_left(side) ? m : n)
      .b(b, m, n)
      .beta(beta)
      .c_written(c, m, n);
}

/// The first arguments of an update of rank 2 k.
BlasRequest& rank_2k(BlasRequest& request, km_blas_triangle triangle, km_blas_operation operation,
                     km_blas_operation transposition, uint64_t n, uint64_t k, const void* alpha,
                     const km_blas_matrix* a, const km_blas_matrix* b) {
  return request.triangle(triangle)
      .operation_or(operation, transposition)
      .n(n)
      .k(k)
      .alpha(alpha)
      .a(a, is_plain(operation) ? n : k, is_plain(operation) ? k : n)
      .b(b, is_plain(operation) ? n : k, is_plain(operation) ? k : n);
}

/// Multiplies b by a triangular matrix or solves for b.
Status triangular(BlasRequest&& request, km_blas_side side, km_blas_triangle triangle,
                  km_blas_operation operation, km_blas_diagonal diagonal, uint64_t m, uint64_t n,
                  const void* alpha, const km_blas_matrix* a, const km_blas_matrix* b) {
  return request.side(side)
      .triangle(triangle)
      .operation("operation", operation, &kmb_blas_call::operation_a)
      .diagonal(diagonal)
      .m(m)
      .n(n)
      .alpha(alpha)
      .a(a, is_left(side) ? m : n, is_left(side) ? m : n)
      .b_written(b, m, n)
      .submit();
}

}  // namespace

km_status km_blas_gemm(km_blas blas, km_data_type type, km_blas_operation operation_a,
                       km_blas_operation operation_b, uint64_t m, uint64_t n, uint64_t k,
                       const void* alpha, const km_blas_matrix* a, const km_blas_matrix* b,
                       const void* beta, const km_blas_matrix* c) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    BlasRequest request(call, blas, KMB_BLAS_GEMM, type);
    return product(request, operation_a, operation_b, m, n, k, alpha, a, b, beta, c).submit();
  });
}

km_status km_blas_gemm_strided_batched(km_blas blas, km_data_type type,
                                       km_blas_operation operation_a, km_blas_operation operation_b,
                                       uint64_t m, uint64_t n, uint64_t k, const void* alpha,
                                       const km_blas_matrix* a, const km_blas_matrix* b,
                                       const void* beta, const km_blas_matrix* c,
                                       uint64_t batch_count) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    BlasRequest request(call, blas, KMB_BLAS_GEMM, type);
    request.batch(batch_count);
    return product(request, operation_a, operation_b, m, n, k, alpha, a, b, beta, c).submit();
  });
}

km_status km_blas_symm(km_blas blas, km_data_type type, km_blas_side side,
                       km_blas_triangle triangle, uint64_t m, uint64_t n, const void* alpha,
                       const km_blas_matrix* a, const km_blas_matrix* b, const void* beta,
                       const km_blas_matrix* c) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    BlasRequest request(call, blas, KMB_BLAS_SYMM, type);
    return symmetric_product(request, side, triangle, m, n, alpha, a, b, beta, c).submit();
  });
}

km_status km_blas_hemm(km_blas blas, km_data_type type, km_blas_side side,
                       km_blas_triangle triangle, uint64_t m, uint64_t n, const void* alpha,
                       const km_blas_matrix* a, const km_blas_matrix* b, const void* beta,
                       const km_blas_matrix* c) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    BlasRequest request(call, blas, KMB_BLAS_HEMM, type);
    return symmetric_product(request, side, triangle, m, n, alpha, a, b, beta, c).submit();
  });
}

km_status km_blas_syrk(km_blas blas, km_data_type type, km_blas_triangle triangle,
                       km_blas_operation operation, uint64_t n, uint64_t k, const void* alpha,
                       const km_blas_matrix* a, const void* beta,
                       const km_blas_matrix* c) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    return BlasRequest(call, blas, KMB_BLAS_SYRK, type)
        .triangle(triangle)
        .operation_or(operation, KM_BLAS_OPERATION_TRANSPOSE)
        .n(n)
        .k(k)
        .alpha(alpha)
        .a(a, is_plain(operation) ? n : k, is_plain(operation) ? k : n)
        .beta(beta)
        .c_written(c, n, n)
        .submit();
  });
}

km_status km_blas_herk(km_blas blas, km_data_type type, km_blas_triangle triangle,
                       km_blas_operation operation, uint64_t n, uint64_t k, const void* alpha,
                       const km_blas_matrix* a, const void* beta,
                       const km_blas_matrix* c) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    return BlasRequest(call, blas, KMB_BLAS_HERK, type)
        .triangle(triangle)
        .operation_or(operation, KM_BLAS_OPERATION_CONJUGATE_TRANSPOSE)
        .n(n)
        .k(k)
        .real_alpha(alpha)
        .a(a, is_plain(operation) ? n : k, is_plain(operation) ? k : n)
        .real_beta(beta)
        .c_written(c, n, n)
        .submit();
  });
}

km_status km_blas_syr2k(km_blas blas, km_data_type type, km_blas_triangle triangle,
                        km_blas_operation operation, uint64_t n, uint64_t k, const void* alpha,
                        const km_blas_matrix* a, const km_blas_matrix* b, const void* beta,
                        const km_blas_matrix* c) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    BlasRequest request(call, blas, KMB_BLAS_SYR2K, type);
    return rank_2k(request, triangle, operation, KM_BLAS_OPERATION_TRANSPOSE, n, k, alpha, a, b)
        .beta(beta)
        .c_written(c, n, n)
        .submit();
  });
}

km_status km_blas_her2k(km_blas blas, km_data_type type, km_blas_triangle triangle,
                        km_blas_operation operation, uint64_t n, uint64_t k, const void* alpha,
                        const km_blas_matrix* a, const km_blas_matrix* b, const void* beta,
                        const km_blas_matrix* c) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    BlasRequest request(call, blas, KMB_BLAS_HER2K, type);
    return rank_2k(request, triangle, operation, KM_BLAS_OPERATION_CONJUGATE_TRANSPOSE, n, k, alpha,
                   a, b)
        .real_beta(beta)
        .c_written(c, n, n)
        .submit();
  });
}

km_status km_blas_trmm(km_blas blas, km_data_type type, km_blas_side side,
                       km_blas_triangle triangle, km_blas_operation operation,
                       km_blas_diagonal diagonal, uint64_t m, uint64_t n, const void* alpha,
                       const km_blas_matrix* a, const km_blas_matrix* b) noexcept {
  return guard(__func__, [&](Call& call) {
    return triangular({call, blas, KMB_BLAS_TRMM, type}, side, triangle, operation, diagonal, m, n,
                      alpha, a, b);
  });
}

km_status km_blas_trsm(km_blas blas, km_data_type type, km_blas_side side,
                       km_blas_triangle triangle, km_blas_operation operation,
                       km_blas_diagonal diagonal, uint64_t m, uint64_t n, const void* alpha,
                       const km_blas_matrix* a, const km_blas_matrix* b) noexcept {
  return guard(__func__, [&](Call& call) {
    return triangular({call, blas, KMB_BLAS_TRSM, type}, side, triangle, operation, diagonal, m, n,
                      alpha, a, b);
  });
}
