// BLAS objects, and routines of level 1: vectors.
#include "api/blas/blas_request.h"
#include "api/guard.h"
#include "api/output.h"
#include "core/blas/blas_rotation.h"

using namespace km;

km_status km_blas_create(km_stream stream, km_blas_layout layout, km_blas* out_blas) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, stream);
    KM_REQUIRE(out_blas);
    if (layout != KM_BLAS_LAYOUT_ROWS && layout != KM_BLAS_LAYOUT_COLUMNS) {
      return make_error(KM_ERROR_INVALID_ARGUMENT, "layout is %d, which is not a layout", layout);
    }
    KM_ASSIGN(Ref<Blas> created, Blas::create(*target, layout));
    return give_handle(std::move(created), out_blas);
  });
}

km_status km_blas_destroy(km_blas blas) noexcept {
  return guard(__func__, [&](Call&) { return destroy_handle(blas, "blas"); });
}

km_status km_blas_axpy(km_blas blas, km_data_type type, uint64_t n, const void* alpha,
                       const km_blas_vector* x, const km_blas_vector* y) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    return BlasRequest(call, blas, KMB_BLAS_AXPY, type)
        .n(n)
        .alpha(alpha)
        .x(x, n)
        .y_written(y, n)
        .submit();
  });
}

km_status km_blas_scal(km_blas blas, km_data_type type, uint64_t n, const void* alpha,
                       const km_blas_vector* x) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    return BlasRequest(call, blas, KMB_BLAS_SCAL, type).n(n).alpha(alpha).x_written(x, n).submit();
  });
}

km_status km_blas_copy(km_blas blas, km_data_type type, uint64_t n, const km_blas_vector* x,
                       const km_blas_vector* y) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    return BlasRequest(call, blas, KMB_BLAS_COPY, type).n(n).x(x, n).y_written(y, n).submit();
  });
}

km_status km_blas_swap(km_blas blas, km_data_type type, uint64_t n, const km_blas_vector* x,
                       const km_blas_vector* y) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    return BlasRequest(call, blas, KMB_BLAS_SWAP, type)
        .n(n)
        .x_written(x, n)
        .y_written(y, n)
        .submit();
  });
}

km_status km_blas_dot(km_blas blas, km_data_type type, uint64_t n, const km_blas_vector* x,
                      const km_blas_vector* y, const km_blas_vector* result) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    return BlasRequest(call, blas, KMB_BLAS_DOT, type).n(n).x(x, n).y(y, n).result(result).submit();
  });
}

km_status km_blas_dotc(km_blas blas, km_data_type type, uint64_t n, const km_blas_vector* x,
                       const km_blas_vector* y, const km_blas_vector* result) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    return BlasRequest(call, blas, KMB_BLAS_DOTC, type)
        .n(n)
        .x(x, n)
        .y(y, n)
        .result(result)
        .submit();
  });
}

km_status km_blas_nrm2(km_blas blas, km_data_type type, uint64_t n, const km_blas_vector* x,
                       const km_blas_vector* result) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    return BlasRequest(call, blas, KMB_BLAS_NRM2, type).n(n).x(x, n).real_result(result).submit();
  });
}

km_status km_blas_asum(km_blas blas, km_data_type type, uint64_t n, const km_blas_vector* x,
                       const km_blas_vector* result) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    return BlasRequest(call, blas, KMB_BLAS_ASUM, type).n(n).x(x, n).real_result(result).submit();
  });
}

km_status km_blas_iamax(km_blas blas, km_data_type type, uint64_t n, const km_blas_vector* x,
                        const km_blas_vector* result) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    return BlasRequest(call, blas, KMB_BLAS_IAMAX, type).n(n).x(x, n).index_result(result).submit();
  });
}

km_status km_blas_rot(km_blas blas, km_data_type type, uint64_t n, const km_blas_vector* x,
                      const km_blas_vector* y, const void* c, const void* s) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    return BlasRequest(call, blas, KMB_BLAS_ROT, type)
        .n(n)
        .x_written(x, n)
        .y_written(y, n)
        .rotation("c", c, 0, 1)
        .rotation("s", s, 1, 1)
        .submit();
  });
}

km_status km_blas_rotm(km_blas blas, km_data_type type, uint64_t n, const km_blas_vector* x,
                       const km_blas_vector* y, const void* parameters) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    return BlasRequest(call, blas, KMB_BLAS_ROTM, type)
        .n(n)
        .x_written(x, n)
        .y_written(y, n)
        .rotation("parameters", parameters, 0, 5)
        .submit();
  });
}

km_status km_blas_rotg(km_data_type type, void* a, void* b, void* c, void* s) noexcept {
  return guard(__func__, [&](Call&) -> Status {
    KM_REQUIRE(a);
    KM_REQUIRE(b);
    KM_REQUIRE(c);
    KM_REQUIRE(s);
    return make_rotation(type, a, b, c, s);
  });
}

km_status km_blas_rotmg(km_data_type type, void* d1, void* d2, void* x1, const void* y1,
                        void* parameters) noexcept {
  return guard(__func__, [&](Call&) -> Status {
    KM_REQUIRE(d1);
    KM_REQUIRE(d2);
    KM_REQUIRE(x1);
    KM_REQUIRE(y1);
    KM_REQUIRE(parameters);
    return make_modified_rotation(type, d1, d2, x1, y1, parameters);
  });
}
