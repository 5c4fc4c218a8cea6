// Factors and solvers of dense matrices.
#include "api/guard.h"
#include "api/library/library_request.h"

using namespace km;

km_status km_solve_potrf(km_blas blas, km_data_type, km_blas_triangle, uint64_t, uint64_t,
                         const km_blas_matrix*, const km_array*) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, blas);
    return make_error(KM_ERROR_NOT_SUPPORTED, "not yet");
  });
}

km_status km_solve_potrs(km_blas blas, km_data_type, km_blas_triangle, uint64_t, uint64_t, uint64_t,
                         const km_blas_matrix*, const km_blas_matrix*, const km_array*) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, blas);
    return make_error(KM_ERROR_NOT_SUPPORTED, "not yet");
  });
}

km_status km_solve_getrf(km_blas blas, km_data_type, uint64_t, uint64_t, uint64_t,
                         const km_blas_matrix*, const km_array*, const km_array*) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, blas);
    return make_error(KM_ERROR_NOT_SUPPORTED, "not yet");
  });
}

km_status km_solve_getrs(km_blas blas, km_data_type, km_blas_operation, uint64_t, uint64_t,
                         uint64_t, const km_blas_matrix*, const km_array*, const km_blas_matrix*,
                         const km_array*) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, blas);
    return make_error(KM_ERROR_NOT_SUPPORTED, "not yet");
  });
}

km_status km_solve_geqrf(km_blas blas, km_data_type, uint64_t, uint64_t, uint64_t,
                         const km_blas_matrix*, const km_array*, const km_array*) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, blas);
    return make_error(KM_ERROR_NOT_SUPPORTED, "not yet");
  });
}

km_status km_solve_orgqr(km_blas blas, km_data_type, uint64_t, uint64_t, uint64_t, uint64_t,
                         const km_blas_matrix*, const km_array*, const km_array*) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, blas);
    return make_error(KM_ERROR_NOT_SUPPORTED, "not yet");
  });
}

km_status km_solve_ormqr(km_blas blas, km_data_type, km_blas_side, km_blas_operation, uint64_t,
                         uint64_t, uint64_t, uint64_t, const km_blas_matrix*, const km_array*,
                         const km_blas_matrix*, const km_array*) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, blas);
    return make_error(KM_ERROR_NOT_SUPPORTED, "not yet");
  });
}

km_status km_solve_syevd(km_blas blas, km_data_type, km_solve_vectors, km_blas_triangle, uint64_t,
                         uint64_t, const km_blas_matrix*, const km_array*,
                         const km_array*) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, blas);
    return make_error(KM_ERROR_NOT_SUPPORTED, "not yet");
  });
}

km_status km_solve_gesvd(km_blas blas, km_data_type, km_solve_vectors, uint64_t, uint64_t, uint64_t,
                         const km_blas_matrix*, const km_array*, const km_blas_matrix*,
                         const km_blas_matrix*, const km_array*) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, blas);
    return make_error(KM_ERROR_NOT_SUPPORTED, "not yet");
  });
}
