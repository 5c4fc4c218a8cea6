// Factors and solvers of dense matrices.
#include <algorithm>
#include <cinttypes>

#include "api/guard.h"
#include "api/library/library_request.h"
#include "backend/blas_numbers.h"

using namespace km;

namespace {

using Use = LibraryRequest::Use;
constexpr Use kRead{};
constexpr Use kWritten{true, false};

km_data_type real_type(km_data_type type) {
  if (type == KM_DATA_TYPE_C32) return KM_DATA_TYPE_F32;
  return type == KM_DATA_TYPE_C64 ? KM_DATA_TYPE_F64 : type;
}

/// The arguments of one call, taken in the order of the function's parameters.
class SolveRequest {
 public:
  SolveRequest(Call& call, const char* name, kmb_solve_routine routine, km_blas blas,
               km_data_type type)
      : request_(call, name, KMB_LIBRARY_SOLVE), call_(request_.call().solve) {
    call_.routine = routine;
    Blas* const found = request_.blas(blas);
    if (found == nullptr) return;
    call_.blas = found->engine().native();
    call_.layout = found->layout();
    request_.type(type, &call_.type);
  }

  SolveRequest& triangle(km_blas_triangle value) {
    request_.triangle(value, &call_.triangle);
    return *this;
  }
  SolveRequest& side(km_blas_side value) {
    request_.choice("side", value, {KM_BLAS_SIDE_LEFT, KM_BLAS_SIDE_RIGHT}, &call_.side);
    return *this;
  }
  SolveRequest& operation(km_blas_operation value) {
    request_.operation("operation", value, &call_.operation);
    return *this;
  }
  /// The operation on a unitary matrix, which LAPACK does not transpose without conjugating it.
  SolveRequest& unitary_operation(km_blas_operation value) {
    operation(value);
    if (!request_.failed() && is_complex(call_.type) && value == KM_BLAS_OPERATION_TRANSPOSE) {
      request_.fail(make_error(KM_ERROR_INVALID_ARGUMENT,
                               "operation is %d; it can be %d or %d here for complex types", value,
                               KM_BLAS_OPERATION_NONE, KM_BLAS_OPERATION_CONJUGATE_TRANSPOSE));
    }
    return *this;
  }
  SolveRequest& vectors(km_solve_vectors value, bool has_thin) {
    if (value == KM_SOLVE_VECTORS_THIN && !has_thin) {
      request_.fail(make_error(KM_ERROR_INVALID_ARGUMENT, "vectors is %d; it can be %d or %d here",
                               value, KM_SOLVE_VECTORS_NONE, KM_SOLVE_VECTORS_ALL));
    }
    request_.choice("vectors", value,
                    {KM_SOLVE_VECTORS_NONE, KM_SOLVE_VECTORS_THIN, KM_SOLVE_VECTORS_ALL},
                    &call_.vectors);
    return *this;
  }

  SolveRequest& m(uint64_t value) { return size("m", value, &call_.m); }
  SolveRequest& n(uint64_t value) { return size("n", value, &call_.n); }
  SolveRequest& k(uint64_t value) { return size("k", value, &call_.k); }
  SolveRequest& columns(uint64_t value) { return size("columns", value, &call_.k); }
  SolveRequest& batch(uint64_t value) {
    if (value == 0) request_.set_empty();
    return size("batch_count", value, &call_.batch_count);
  }
  /// Requires that a size is not larger than another one, whose name and meaning are in `limit`.
  SolveRequest& at_most(const char* name, uint64_t value, const char* limit, uint64_t most) {
    if (!request_.failed() && value > most) {
      request_.fail(make_error(KM_ERROR_INVALID_ARGUMENT,
                               "%s is %" PRIu64 "; it can be at most %s, which is %" PRIu64, name,
                               value, limit, most));
    }
    return *this;
  }

  SolveRequest& a(const km_blas_matrix* given, uint64_t rows, uint64_t columns, Use use) {
    return matrix("a", given, rows, columns, use, &call_.a);
  }
  SolveRequest& b(const char* name, const km_blas_matrix* given, uint64_t rows, uint64_t columns) {
    return matrix(name, given, rows, columns, kWritten, &call_.b);
  }
  SolveRequest& vh(const km_blas_matrix* given, uint64_t rows, uint64_t columns) {
    return matrix("vh", given, rows, columns, kWritten, &call_.vh);
  }
  SolveRequest& pivots(const km_array* given, uint64_t count, Use use) {
    return array("pivots", given, count, sizeof(int32_t), use, &call_.numbers);
  }
  SolveRequest& tau(const km_array* given, uint64_t count, Use use) {
    return array("tau", given, count, data_type_size(call_.type), use, &call_.numbers);
  }
  SolveRequest& real_values(const char* name, const km_array* given, uint64_t count) {
    return array(name, given, count, data_type_size(real_type(call_.type)), kWritten,
                 &call_.numbers);
  }
  SolveRequest& info(const km_array* given) {
    return array("info", given, 1, sizeof(int32_t), kWritten, &call_.info);
  }
  /// Queues the call, or returns the first error.
  Status submit() { return request_.submit(); }

 private:
  SolveRequest& size(const char* name, uint64_t value, uint64_t* out) {
    request_.size(name, value, out);
    return *this;
  }
  SolveRequest& matrix(const char* name, const km_blas_matrix* given, uint64_t rows,
                       uint64_t columns, Use use, kmb_blas_array* out) {
    request_.matrix(name, given, call_.layout, rows, columns, call_.batch_count, call_.type, use,
                    out);
    return *this;
  }
  SolveRequest& array(const char* name, const km_array* given, uint64_t count,
                      uint32_t element_bytes, Use use, kmb_blas_array* out) {
    request_.array(name, given, count, call_.batch_count, element_bytes, use, out);
    return *this;
  }

  LibraryRequest request_;
  kmb_solve_call& call_;
};

/// Runs a function of this file: `arguments` gives the request the function's arguments.
template <class Arguments>
km_status solve(const char* name, kmb_solve_routine routine, km_blas blas, km_data_type type,
                Arguments&& arguments) noexcept {
  return guard(name, [&](Call& call) {
    SolveRequest request(call, name, routine, blas, type);
    arguments(request);
    return request.submit();
  });
}

}  // namespace

km_status km_solve_potrf(km_blas blas, km_data_type type, km_blas_triangle triangle, uint64_t n,
                         uint64_t batch_count, const km_blas_matrix* a,
                         const km_array* info) noexcept {
  return solve(__func__, KMB_SOLVE_POTRF, blas, type, [&](SolveRequest& request) {
    request.triangle(triangle).n(n).batch(batch_count).a(a, n, n, kWritten).info(info);
  });
}

km_status km_solve_potrs(km_blas blas, km_data_type type, km_blas_triangle triangle, uint64_t n,
                         uint64_t columns, uint64_t batch_count, const km_blas_matrix* a,
                         const km_blas_matrix* b, const km_array* info) noexcept {
  return solve(__func__, KMB_SOLVE_POTRS, blas, type, [&](SolveRequest& request) {
    request.triangle(triangle)
        .n(n)
        .columns(columns)
        .batch(batch_count)
        .a(a, n, n, kRead)
        .b("b", b, n, columns)
        .info(info);
  });
}

km_status km_solve_getrf(km_blas blas, km_data_type type, uint64_t m, uint64_t n,
                         uint64_t batch_count, const km_blas_matrix* a, const km_array* pivots,
                         const km_array* info) noexcept {
  return solve(__func__, KMB_SOLVE_GETRF, blas, type, [&](SolveRequest& request) {
    request.m(m)
        .n(n)
        .batch(batch_count)
        .a(a, m, n, kWritten)
        .pivots(pivots, std::min(m, n), kWritten)
        .info(info);
  });
}

km_status km_solve_getrs(km_blas blas, km_data_type type, km_blas_operation operation, uint64_t n,
                         uint64_t columns, uint64_t batch_count, const km_blas_matrix* a,
                         const km_array* pivots, const km_blas_matrix* b,
                         const km_array* info) noexcept {
  return solve(__func__, KMB_SOLVE_GETRS, blas, type, [&](SolveRequest& request) {
    request.operation(operation)
        .n(n)
        .columns(columns)
        .batch(batch_count)
        .a(a, n, n, kRead)
        .pivots(pivots, n, kRead)
        .b("b", b, n, columns)
        .info(info);
  });
}

km_status km_solve_geqrf(km_blas blas, km_data_type type, uint64_t m, uint64_t n,
                         uint64_t batch_count, const km_blas_matrix* a, const km_array* tau,
                         const km_array* info) noexcept {
  return solve(__func__, KMB_SOLVE_GEQRF, blas, type, [&](SolveRequest& request) {
    request.m(m)
        .n(n)
        .batch(batch_count)
        .a(a, m, n, kWritten)
        .tau(tau, std::min(m, n), kWritten)
        .info(info);
  });
}

km_status km_solve_orgqr(km_blas blas, km_data_type type, uint64_t m, uint64_t n, uint64_t k,
                         uint64_t batch_count, const km_blas_matrix* a, const km_array* tau,
                         const km_array* info) noexcept {
  return solve(__func__, KMB_SOLVE_ORGQR, blas, type, [&](SolveRequest& request) {
    request.m(m)
        .n(n)
        .at_most("n", n, "m", m)
        .k(k)
        .at_most("k", k, "n", n)
        .batch(batch_count)
        .a(a, m, n, kWritten)
        .tau(tau, k, kRead)
        .info(info);
  });
}

km_status km_solve_ormqr(km_blas blas, km_data_type type, km_blas_side side,
                         km_blas_operation operation, uint64_t m, uint64_t n, uint64_t k,
                         uint64_t batch_count, const km_blas_matrix* a, const km_array* tau,
                         const km_blas_matrix* c, const km_array* info) noexcept {
  const uint64_t order = side == KM_BLAS_SIDE_LEFT ? m : n;
  return solve(__func__, KMB_SOLVE_ORMQR, blas, type, [&](SolveRequest& request) {
    request.side(side)
        .unitary_operation(operation)
        .m(m)
        .n(n)
        .k(k)
        .at_most("k", k, side == KM_BLAS_SIDE_LEFT ? "m" : "n", order)
        .batch(batch_count)
        .a(a, order, k, kRead)
        .tau(tau, k, kRead)
        .b("c", c, m, n)
        .info(info);
  });
}

km_status km_solve_syevd(km_blas blas, km_data_type type, km_solve_vectors vectors,
                         km_blas_triangle triangle, uint64_t n, uint64_t batch_count,
                         const km_blas_matrix* a, const km_array* eigenvalues,
                         const km_array* info) noexcept {
  return solve(__func__, KMB_SOLVE_SYEVD, blas, type, [&](SolveRequest& request) {
    request.vectors(vectors, false)
        .triangle(triangle)
        .n(n)
        .batch(batch_count)
        .a(a, n, n, kWritten)
        .real_values("eigenvalues", eigenvalues, n)
        .info(info);
  });
}

km_status km_solve_gesvd(km_blas blas, km_data_type type, km_solve_vectors vectors, uint64_t m,
                         uint64_t n, uint64_t batch_count, const km_blas_matrix* a,
                         const km_array* singular_values, const km_blas_matrix* u,
                         const km_blas_matrix* vh, const km_array* info) noexcept {
  const uint64_t least = std::min(m, n);
  const bool is_all = vectors == KM_SOLVE_VECTORS_ALL;
  return solve(__func__, KMB_SOLVE_GESVD, blas, type, [&](SolveRequest& request) {
    request.vectors(vectors, true)
        .m(m)
        .n(n)
        .batch(batch_count)
        .a(a, m, n, kWritten)
        .real_values("singular_values", singular_values, least);
    if (vectors != KM_SOLVE_VECTORS_NONE) {
      request.b("u", u, m, is_all ? m : least).vh(vh, is_all ? n : least, n);
    }
    request.info(info);
  });
}
