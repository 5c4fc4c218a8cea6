// Products and solvers of sparse matrices.
#include <algorithm>
#include <cinttypes>

#include "api/guard.h"
#include "api/library/library_request.h"
#include "backend/blas_numbers.h"

using namespace km;

namespace {

using Use = LibraryRequest::Use;
constexpr Use kRead{};
constexpr Use kWritten{.is_written = true};
constexpr Use kMayBeOutput{.may_be_output = true};

/// The arguments of one call. Once one was wrong, further ones are not looked at.
class SparseRequest {
 public:
  SparseRequest(Call& call, const char* name, km_blas blas, kmb_sparse_routine routine,
                km_data_type type)
      : request_(call, name, KMB_LIBRARY_SPARSE), sparse_(request_.call().sparse) {
    Blas* const found = request_.blas(blas);
    if (found == nullptr) return;
    sparse_.blas = found->engine().native();
    sparse_.layout = found->layout();
    sparse_.routine = routine;
    request_.type(type, &sparse_.type);
  }

  void operation_a(const char* name, km_blas_operation value) {
    request_.operation(name, value, &sparse_.operation_a);
  }
  void operation_b(km_blas_operation value) {
    request_.operation("operation_b", value, &sparse_.operation_b);
  }
  void triangle(km_blas_triangle triangle, km_blas_diagonal diagonal) {
    request_.triangle(triangle, &sparse_.triangle);
    request_.choice("diagonal", diagonal, {KM_BLAS_DIAGONAL_STORED, KM_BLAS_DIAGONAL_UNIT},
                    &sparse_.diagonal);
  }
  void columns(uint64_t value) { request_.size("columns", value, &sparse_.k); }
  void alpha(const void* value) { request_.scalar("alpha", value, sparse_.type, sparse_.alpha); }
  void beta(const void* value) { request_.scalar("beta", value, sparse_.type, sparse_.beta); }

  void matrix(const km_sparse_matrix* a, bool is_square);
  void vector(const char* name, const km_blas_vector* given, uint64_t count, Use use,
              kmb_blas_array* out);
  void dense(const char* name, const km_blas_matrix* given, uint64_t rows, uint64_t columns,
             Use use, kmb_blas_array* out) {
    request_.matrix(name, given, sparse_.layout, rows, columns, 1, sparse_.type, use, out);
  }
  /// The input and the output of a solve in place have to have their elements in the same places.
  void require_same_steps(const char* names, const char* what);

  uint64_t result_rows() const { return is_plain() ? sparse_.rows : sparse_.columns; }
  uint64_t inner() const { return is_plain() ? sparse_.columns : sparse_.rows; }
  kmb_sparse_call& call() { return sparse_; }
  Status submit(bool is_empty) {
    if (is_empty) request_.set_empty();
    return request_.submit();
  }

 private:
  bool is_plain() const { return sparse_.operation_a == KM_BLAS_OPERATION_NONE; }
  void numbers(const km_sparse_matrix& a);
  void sizes(const km_sparse_matrix& a, bool is_square);

  LibraryRequest request_;
  kmb_sparse_call& sparse_;
};

void SparseRequest::numbers(const km_sparse_matrix& a) {
  request_.choice("a->format", a.format,
                  {KM_SPARSE_FORMAT_CSR, KM_SPARSE_FORMAT_CSC, KM_SPARSE_FORMAT_COO},
                  &sparse_.format);
  if (a.index_size_bytes != 4 && a.index_size_bytes != 8) {
    request_.fail(make_error(KM_ERROR_INVALID_ARGUMENT,
                             "a->index_size_bytes is %" PRIu32 "; offsets and indices have 4 or 8 "
                             "bytes each",
                             a.index_size_bytes));
  }
  if (a.index_base > 1) {
    request_.fail(make_error(KM_ERROR_INVALID_ARGUMENT,
                             "a->index_base is %" PRIu32 "; the first row can be called 0 or 1",
                             a.index_base));
  }
  if (a.reserved != 0) {
    request_.fail(make_error(KM_ERROR_INVALID_ARGUMENT,
                             "a->reserved is %" PRIu32 "; it has to be 0", a.reserved));
  }
  sparse_.index_size_bytes = a.index_size_bytes;
  sparse_.index_base = a.index_base;
}

void SparseRequest::sizes(const km_sparse_matrix& a, bool is_square) {
  request_.size("a->rows", a.rows, &sparse_.rows);
  request_.size("a->columns", a.columns, &sparse_.columns);
  if (is_square && a.rows != a.columns) {
    request_.fail(make_error(KM_ERROR_INVALID_ARGUMENT,
                             "a has %" PRIu64 " rows and %" PRIu64
                             " columns; a triangular matrix has as many of each",
                             a.rows, a.columns));
  }
  const uint64_t most = a.index_size_bytes == 4 ? kMostSize - a.index_base : uint64_t{1} << 60;
  if (a.nonzeros > most) {
    request_.fail(make_error(KM_ERROR_INVALID_ARGUMENT,
                             "a->nonzeros is %" PRIu64 "; at most %" PRIu64
                             " is possible with indices of %" PRIu32 " bytes",
                             a.nonzeros, most, a.index_size_bytes));
  }
  sparse_.nonzeros = a.nonzeros;
}

void SparseRequest::matrix(const km_sparse_matrix* a, bool is_square) {
  if (request_.failed()) return;
  if (a == nullptr) return request_.fail(operand_is_null("a"));
  numbers(*a);
  sizes(*a, is_square);
  uint64_t offsets = a->nonzeros;
  if (a->format == KM_SPARSE_FORMAT_CSR) offsets = a->rows + 1;
  if (a->format == KM_SPARSE_FORMAT_CSC) offsets = a->columns + 1;
  kmb_blas_array place{};
  request_.array("a->offsets", &a->offsets, offsets, 1, a->index_size_bytes, kRead, &place);
  sparse_.offsets = place.address;
  request_.array("a->indices", &a->indices, a->nonzeros, 1, a->index_size_bytes, kRead, &place);
  sparse_.indices = place.address;
  if (request_.failed()) return;
  BlasRegion values;
  values.lines = std::min<uint64_t>(a->nonzeros, 1);
  const uint32_t bytes = data_type_size(sparse_.type);
  values.line_bytes = a->nonzeros * bytes;
  request_.place("a->values", place_of(a->values), values, bytes, std::min(bytes, 8U), kRead,
                 &sparse_.values);
}

void SparseRequest::vector(const char* name, const km_blas_vector* given, uint64_t count, Use use,
                           kmb_blas_array* out) {
  if (!request_.failed() && given != nullptr && given->increment < 1) {
    return request_.fail(make_error(KM_ERROR_INVALID_ARGUMENT,
                                    "%s->increment is %" PRId64
                                    "; vectors of sparse calls go forward, so that it is at least "
                                    "1",
                                    name, given->increment));
  }
  request_.vector(name, given, count, sparse_.type, use, out);
}

void SparseRequest::require_same_steps(const char* names, const char* what) {
  const kmb_blas_array &b = sparse_.b, &c = sparse_.c;
  if (request_.failed() || b.address != c.address || b.step == c.step) return;
  request_.fail(make_error(KM_ERROR_INVALID_ARGUMENT,
                           "%s begin at the same address, but their %s are %" PRId64 " and %" PRId64
                           "; a solve in place needs the same one",
                           names, what, b.step, c.step));
}

}  // namespace

km_status km_sparse_mv(km_blas blas, km_data_type type, km_blas_operation operation,
                       const void* alpha, const km_sparse_matrix* a, const km_blas_vector* x,
                       const void* beta, const km_blas_vector* y) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    SparseRequest request(call, "km_sparse_mv", blas, KMB_SPARSE_MV, type);
    request.operation_a("operation", operation);
    request.alpha(alpha);
    request.matrix(a, false);
    request.vector("x", x, request.inner(), kRead, &request.call().b);
    request.beta(beta);
    request.vector("y", y, request.result_rows(), kWritten, &request.call().c);
    request.call().k = 1;
    return request.submit(request.result_rows() == 0);
  });
}

km_status km_sparse_mm(km_blas blas, km_data_type type, km_blas_operation operation_a,
                       km_blas_operation operation_b, uint64_t columns, const void* alpha,
                       const km_sparse_matrix* a, const km_blas_matrix* b, const void* beta,
                       const km_blas_matrix* c) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    SparseRequest request(call, "km_sparse_mm", blas, KMB_SPARSE_MM, type);
    request.operation_a("operation_a", operation_a);
    request.operation_b(operation_b);
    request.columns(columns);
    request.alpha(alpha);
    request.matrix(a, false);
    const uint64_t inner = request.inner(), rows = request.result_rows();
    const bool is_plain = operation_b == KM_BLAS_OPERATION_NONE;
    request.dense("b", b, is_plain ? inner : columns, is_plain ? columns : inner, kRead,
                  &request.call().b);
    request.beta(beta);
    request.dense("c", c, rows, columns, kWritten, &request.call().c);
    return request.submit(rows == 0 || columns == 0);
  });
}

km_status km_sparse_sv(km_blas blas, km_data_type type, km_blas_operation operation,
                       km_blas_triangle triangle, km_blas_diagonal diagonal, const void* alpha,
                       const km_sparse_matrix* a, const km_blas_vector* x,
                       const km_blas_vector* y) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    SparseRequest request(call, "km_sparse_sv", blas, KMB_SPARSE_SV, type);
    request.operation_a("operation", operation);
    request.triangle(triangle, diagonal);
    request.alpha(alpha);
    request.matrix(a, true);
    const uint64_t rows = request.result_rows();
    request.vector("x", x, rows, kMayBeOutput, &request.call().b);
    request.vector("y", y, rows, kWritten, &request.call().c);
    request.require_same_steps("x and y", "increments");
    request.call().k = 1;
    return request.submit(rows == 0);
  });
}

km_status km_sparse_sm(km_blas blas, km_data_type type, km_blas_operation operation,
                       km_blas_triangle triangle, km_blas_diagonal diagonal, uint64_t columns,
                       const void* alpha, const km_sparse_matrix* a, const km_blas_matrix* b,
                       const km_blas_matrix* c) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    SparseRequest request(call, "km_sparse_sm", blas, KMB_SPARSE_SM, type);
    request.operation_a("operation", operation);
    request.triangle(triangle, diagonal);
    request.columns(columns);
    request.alpha(alpha);
    request.matrix(a, true);
    const uint64_t rows = request.result_rows();
    request.dense("b", b, rows, columns, kMayBeOutput, &request.call().b);
    request.dense("c", c, rows, columns, kWritten, &request.call().c);
    request.require_same_steps("b and c", "leading dimensions");
    return request.submit(rows == 0 || columns == 0);
  });
}
