// BLAS of level 2: a matrix and vectors.
#include "api/blas/blas_request.h"
#include "api/guard.h"

using namespace km;

namespace {

/// Multiplies x by a triangular matrix or solves for x. The matrix is stored in full, as a band, or
/// packed.
Status triangular(BlasRequest&& request, km_blas_triangle triangle, km_blas_operation operation,
                  km_blas_diagonal diagonal, uint64_t n, const km_blas_matrix* a,
                  const km_blas_vector* x) {
  return request.triangle(triangle)
      .operation("operation", operation, &kmb_blas_call::operation_a)
      .diagonal(diagonal)
      .n(n)
      .a(a, n, n)
      .x_written(x, n)
      .submit();
}

Status triangular_band(BlasRequest&& request, km_blas_triangle triangle,
                       km_blas_operation operation, km_blas_diagonal diagonal, uint64_t n,
                       uint64_t k, const km_blas_matrix* a, const km_blas_vector* x) {
  return request.triangle(triangle)
      .operation("operation", operation, &kmb_blas_call::operation_a)
      .diagonal(diagonal)
      .n(n)
      .k(k)
      .band_a(a, n, n, k + 1)
      .x_written(x, n)
      .submit();
}

Status triangular_packed(BlasRequest&& request, km_blas_triangle triangle,
                         km_blas_operation operation, km_blas_diagonal diagonal, uint64_t n,
                         const km_blas_matrix* a, const km_blas_vector* x) {
  return request.triangle(triangle)
      .operation("operation", operation, &kmb_blas_call::operation_a)
      .diagonal(diagonal)
      .n(n)
      .packed_a(a, n, false)
      .x_written(x, n)
      .submit();
}

/// An update of rank 1 of a general matrix.
Status general_rank_one(BlasRequest&& request, uint64_t m, uint64_t n, const void* alpha,
                        const km_blas_vector* x, const km_blas_vector* y, const km_blas_matrix* a) {
  return request.m(m).n(n).alpha(alpha).x(x, m).y(y, n).a_written(a, m, n).submit();
}

/// The first arguments of an update of rank 1 by one vector.
BlasRequest& rank_one(BlasRequest& request, km_blas_triangle triangle, uint64_t n,
                      const void* alpha, const km_blas_vector* x) {
  return request.triangle(triangle).n(n).real_alpha(alpha).x(x, n);
}

/// The first arguments of an update of rank 2.
BlasRequest& rank_two(BlasRequest& request, km_blas_triangle triangle, uint64_t n,
                      const void* alpha, const km_blas_vector* x, const km_blas_vector* y) {
  return request.triangle(triangle).n(n).alpha(alpha).x(x, n).y(y, n);
}

}  // namespace

km_status km_blas_gemv(km_blas blas, km_data_type type, km_blas_operation operation, uint64_t m,
                       uint64_t n, const void* alpha, const km_blas_matrix* a,
                       const km_blas_vector* x, const void* beta,
                       const km_blas_vector* y) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    return BlasRequest(call, blas, KMB_BLAS_GEMV, type)
        .operation("operation", operation, &kmb_blas_call::operation_a)
        .m(m)
        .n(n)
        .alpha(alpha)
        .a(a, m, n)
        .x(x, is_plain(operation) ? n : m)
        .beta(beta)
        .y_written(y, is_plain(operation) ? m : n)
        .submit();
  });
}

km_status km_blas_gbmv(km_blas blas, km_data_type type, km_blas_operation operation, uint64_t m,
                       uint64_t n, uint64_t lower, uint64_t upper, const void* alpha,
                       const km_blas_matrix* a, const km_blas_vector* x, const void* beta,
                       const km_blas_vector* y) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    return BlasRequest(call, blas, KMB_BLAS_GBMV, type)
        .operation("operation", operation, &kmb_blas_call::operation_a)
        .m(m)
        .n(n)
        .band(lower, upper)
        .alpha(alpha)
        .band_a(a, m, n, lower + upper + 1)
        .x(x, is_plain(operation) ? n : m)
        .beta(beta)
        .y_written(y, is_plain(operation) ? m : n)
        .submit();
  });
}

km_status km_blas_symv(km_blas blas, km_data_type type, km_blas_triangle triangle, uint64_t n,
                       const void* alpha, const km_blas_matrix* a, const km_blas_vector* x,
                       const void* beta, const km_blas_vector* y) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    return BlasRequest(call, blas, KMB_BLAS_SYMV, type)
        .triangle(triangle)
        .n(n)
        .alpha(alpha)
        .a(a, n, n)
        .x(x, n)
        .beta(beta)
        .y_written(y, n)
        .submit();
  });
}

km_status km_blas_sbmv(km_blas blas, km_data_type type, km_blas_triangle triangle, uint64_t n,
                       uint64_t k, const void* alpha, const km_blas_matrix* a,
                       const km_blas_vector* x, const void* beta,
                       const km_blas_vector* y) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    return BlasRequest(call, blas, KMB_BLAS_SBMV, type)
        .triangle(triangle)
        .n(n)
        .k(k)
        .alpha(alpha)
        .band_a(a, n, n, k + 1)
        .x(x, n)
        .beta(beta)
        .y_written(y, n)
        .submit();
  });
}

km_status km_blas_spmv(km_blas blas, km_data_type type, km_blas_triangle triangle, uint64_t n,
                       const void* alpha, const km_blas_matrix* a, const km_blas_vector* x,
                       const void* beta, const km_blas_vector* y) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    return BlasRequest(call, blas, KMB_BLAS_SPMV, type)
        .triangle(triangle)
        .n(n)
        .alpha(alpha)
        .packed_a(a, n, false)
        .x(x, n)
        .beta(beta)
        .y_written(y, n)
        .submit();
  });
}

km_status km_blas_trmv(km_blas blas, km_data_type type, km_blas_triangle triangle,
                       km_blas_operation operation, km_blas_diagonal diagonal, uint64_t n,
                       const km_blas_matrix* a, const km_blas_vector* x) noexcept {
  return guard(__func__, [&](Call& call) {
    return triangular({call, blas, KMB_BLAS_TRMV, type}, triangle, operation, diagonal, n, a, x);
  });
}

km_status km_blas_tbmv(km_blas blas, km_data_type type, km_blas_triangle triangle,
                       km_blas_operation operation, km_blas_diagonal diagonal, uint64_t n,
                       uint64_t k, const km_blas_matrix* a, const km_blas_vector* x) noexcept {
  return guard(__func__, [&](Call& call) {
    return triangular_band({call, blas, KMB_BLAS_TBMV, type}, triangle, operation, diagonal, n, k,
                           a, x);
  });
}

km_status km_blas_tpmv(km_blas blas, km_data_type type, km_blas_triangle triangle,
                       km_blas_operation operation, km_blas_diagonal diagonal, uint64_t n,
                       const km_blas_matrix* a, const km_blas_vector* x) noexcept {
  return guard(__func__, [&](Call& call) {
    return triangular_packed({call, blas, KMB_BLAS_TPMV, type}, triangle, operation, diagonal, n, a,
                             x);
  });
}

km_status km_blas_trsv(km_blas blas, km_data_type type, km_blas_triangle triangle,
                       km_blas_operation operation, km_blas_diagonal diagonal, uint64_t n,
                       const km_blas_matrix* a, const km_blas_vector* x) noexcept {
  return guard(__func__, [&](Call& call) {
    return triangular({call, blas, KMB_BLAS_TRSV, type}, triangle, operation, diagonal, n, a, x);
  });
}

km_status km_blas_tbsv(km_blas blas, km_data_type type, km_blas_triangle triangle,
                       km_blas_operation operation, km_blas_diagonal diagonal, uint64_t n,
                       uint64_t k, const km_blas_matrix* a, const km_blas_vector* x) noexcept {
  return guard(__func__, [&](Call& call) {
    return triangular_band({call, blas, KMB_BLAS_TBSV, type}, triangle, operation, diagonal, n, k,
                           a, x);
  });
}

km_status km_blas_tpsv(km_blas blas, km_data_type type, km_blas_triangle triangle,
                       km_blas_operation operation, km_blas_diagonal diagonal, uint64_t n,
                       const km_blas_matrix* a, const km_blas_vector* x) noexcept {
  return guard(__func__, [&](Call& call) {
    return triangular_packed({call, blas, KMB_BLAS_TPSV, type}, triangle, operation, diagonal, n, a,
                             x);
  });
}

km_status km_blas_ger(km_blas blas, km_data_type type, uint64_t m, uint64_t n, const void* alpha,
                      const km_blas_vector* x, const km_blas_vector* y,
                      const km_blas_matrix* a) noexcept {
  return guard(__func__, [&](Call& call) {
    return general_rank_one({call, blas, KMB_BLAS_GER, type}, m, n, alpha, x, y, a);
  });
}

km_status km_blas_gerc(km_blas blas, km_data_type type, uint64_t m, uint64_t n, const void* alpha,
                       const km_blas_vector* x, const km_blas_vector* y,
                       const km_blas_matrix* a) noexcept {
  return guard(__func__, [&](Call& call) {
    return general_rank_one({call, blas, KMB_BLAS_GERC, type}, m, n, alpha, x, y, a);
  });
}

km_status km_blas_syr(km_blas blas, km_data_type type, km_blas_triangle triangle, uint64_t n,
                      const void* alpha, const km_blas_vector* x,
                      const km_blas_matrix* a) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    BlasRequest request(call, blas, KMB_BLAS_SYR, type);
    return rank_one(request, triangle, n, alpha, x).a_written(a, n, n).submit();
  });
}

km_status km_blas_syr2(km_blas blas, km_data_type type, km_blas_triangle triangle, uint64_t n,
                       const void* alpha, const km_blas_vector* x, const km_blas_vector* y,
                       const km_blas_matrix* a) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    BlasRequest request(call, blas, KMB_BLAS_SYR2, type);
    return rank_two(request, triangle, n, alpha, x, y).a_written(a, n, n).submit();
  });
}

km_status km_blas_spr(km_blas blas, km_data_type type, km_blas_triangle triangle, uint64_t n,
                      const void* alpha, const km_blas_vector* x,
                      const km_blas_matrix* a) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    BlasRequest request(call, blas, KMB_BLAS_SPR, type);
    return rank_one(request, triangle, n, alpha, x).packed_a(a, n, true).submit();
  });
}

km_status km_blas_spr2(km_blas blas, km_data_type type, km_blas_triangle triangle, uint64_t n,
                       const void* alpha, const km_blas_vector* x, const km_blas_vector* y,
                       const km_blas_matrix* a) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    BlasRequest request(call, blas, KMB_BLAS_SPR2, type);
    return rank_two(request, triangle, n, alpha, x, y).packed_a(a, n, true).submit();
  });
}
