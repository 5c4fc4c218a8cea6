// Products and solvers of sparse matrices.
#include "api/guard.h"
#include "api/library/library_request.h"

using namespace km;

km_status km_sparse_mv(km_blas blas, km_data_type, km_blas_operation, const void*,
                       const km_sparse_matrix*, const km_blas_vector*, const void*,
                       const km_blas_vector*) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, blas);
    return make_error(KM_ERROR_NOT_SUPPORTED, "not yet");
  });
}

km_status km_sparse_mm(km_blas blas, km_data_type, km_blas_operation, km_blas_operation, uint64_t,
                       const void*, const km_sparse_matrix*, const km_blas_matrix*, const void*,
                       const km_blas_matrix*) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, blas);
    return make_error(KM_ERROR_NOT_SUPPORTED, "not yet");
  });
}

km_status km_sparse_sv(km_blas blas, km_data_type, km_blas_operation, km_blas_triangle,
                       km_blas_diagonal, const void*, const km_sparse_matrix*,
                       const km_blas_vector*, const km_blas_vector*) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, blas);
    return make_error(KM_ERROR_NOT_SUPPORTED, "not yet");
  });
}

km_status km_sparse_sm(km_blas blas, km_data_type, km_blas_operation, km_blas_triangle,
                       km_blas_diagonal, uint64_t, const void*, const km_sparse_matrix*,
                       const km_blas_matrix*, const km_blas_matrix*) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, blas);
    return make_error(KM_ERROR_NOT_SUPPORTED, "not yet");
  });
}
