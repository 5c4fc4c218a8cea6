// The arguments of one BLAS call, checked in their order; the first error is reported.
#pragma once

#include <initializer_list>

#include "api/blas/operand_places.h"
#include "api/call.h"
#include "core/blas/blas.h"

namespace km {

/// True if a matrix is taken as it is.
inline bool is_plain(km_blas_operation operation) { return operation == KM_BLAS_OPERATION_NONE; }

class BlasRequest {
 public:
  using Array = kmb_blas_array kmb_blas_call::*;

  BlasRequest(Call& call, km_blas blas, kmb_blas_routine routine, km_data_type type);

  BlasRequest& operation(const char* name, km_blas_operation value,
                         km_blas_operation kmb_blas_call::* member);
  /// For routines that know only two operations: none, or `transposition` (for real types, both
  /// transpositions).
  BlasRequest& operation_or(km_blas_operation value, km_blas_operation transposition);
  BlasRequest& triangle(km_blas_triangle value);
  BlasRequest& diagonal(km_blas_diagonal value);
  BlasRequest& side(km_blas_side value);

  // Sizes. If m, n or batch_count is 0, the call does nothing.
  BlasRequest& m(uint64_t value) { return size("m", value, &kmb_blas_call::m); }
  BlasRequest& n(uint64_t value) { return size("n", value, &kmb_blas_call::n); }
  BlasRequest& k(uint64_t value) { return further_size("k", value, &kmb_blas_call::k); }
  BlasRequest& band(uint64_t lower, uint64_t upper);
  BlasRequest& batch(uint64_t count) {
    return size("batch_count", count, &kmb_blas_call::batch_count);
  }

  /// A scalar of the call's type; the real variants have the type of its real part.
  BlasRequest& alpha(const void* value) { return scalar("alpha", value, false, work_.call.alpha); }
  BlasRequest& beta(const void* value) { return scalar("beta", value, false, work_.call.beta); }
  BlasRequest& real_alpha(const void* value) {
    return scalar("alpha", value, true, work_.call.alpha);
  }
  BlasRequest& real_beta(const void* value) { return scalar("beta", value, true, work_.call.beta); }
  /// `count` numbers, stored from index `first` on.
  BlasRequest& rotation(const char* name, const void* values, uint32_t first, uint32_t count);

  BlasRequest& x(const km_blas_vector* x, uint64_t count) {
    return vector("x", x, count, &kmb_blas_call::b, false);
  }
  BlasRequest& x_written(const km_blas_vector* x, uint64_t count) {
    return vector("x", x, count, &kmb_blas_call::b, true);
  }
  BlasRequest& y(const km_blas_vector* y, uint64_t count) {
    return vector("y", y, count, &kmb_blas_call::c, false);
  }
  BlasRequest& y_written(const km_blas_vector* y, uint64_t count) {
    return vector("y", y, count, &kmb_blas_call::c, true);
  }
  /// A result of one element: of the type, of its real part's type, or of 8 bytes; it is written
  /// even if n is 0.
  BlasRequest& result(const km_blas_vector* place) { return one_result(place, element_bytes_); }
  BlasRequest& real_result(const km_blas_vector* place) { return one_result(place, real_bytes_); }
  BlasRequest& index_result(const km_blas_vector* place) { return one_result(place, 8); }

  BlasRequest& a(const km_blas_matrix* a, uint64_t rows, uint64_t columns) {
    return matrix("a", a, rows, columns, &kmb_blas_call::a, false);
  }
  BlasRequest& a_written(const km_blas_matrix* a, uint64_t rows, uint64_t columns) {
    return matrix("a", a, rows, columns, &kmb_blas_call::a, true);
  }
  BlasRequest& b(const km_blas_matrix* b, uint64_t rows, uint64_t columns) {
    return matrix("b", b, rows, columns, &kmb_blas_call::b, false);
  }
  BlasRequest& b_written(const km_blas_matrix* b, uint64_t rows, uint64_t columns) {
    return matrix("b", b, rows, columns, &kmb_blas_call::b, true);
  }
  BlasRequest& c_written(const km_blas_matrix* c, uint64_t rows, uint64_t columns) {
    return matrix("c", c, rows, columns, &kmb_blas_call::c, true);
  }
  /// A band matrix with `width` elements per row or column.
  BlasRequest& band_a(const km_blas_matrix* a, uint64_t rows, uint64_t columns, uint64_t width);
  BlasRequest& packed_a(const km_blas_matrix* a, uint64_t order, bool is_written);

  Status submit();

 private:
  BlasRequest& fail(Error error);
  BlasRequest& choice(const char* name, int32_t value, std::initializer_list<int32_t> known,
                      int32_t kmb_blas_call::* member);
  BlasRequest& size(const char* name, uint64_t value, uint64_t kmb_blas_call::* member);
  BlasRequest& further_size(const char* name, uint64_t value, uint64_t kmb_blas_call::* member);
  BlasRequest& scalar(const char* name, const void* value, bool is_real, double* out);
  BlasRequest& vector(const char* name, const km_blas_vector* given, uint64_t count, Array array,
                      bool is_written);
  BlasRequest& one_result(const km_blas_vector* place, uint32_t size_bytes);
  BlasRequest& matrix(const char* name, const km_blas_matrix* given, uint64_t rows,
                      uint64_t columns, Array array, bool is_written);
  BlasRequest& lines(const char* name, const km_blas_matrix* given, uint64_t count, uint64_t length,
                     Array array, bool is_written);
  BlasRequest& place(const char* name, const OperandPlace& given, const BlasRegion& region,
                     uint32_t element_bytes, kmb_blas_array array, Array member, bool is_written);

  OperandPlaces places_;
  Blas* blas_ = nullptr;
  BlasWork work_;
  uint32_t element_bytes_ = 0, real_bytes_ = 0;
  bool is_empty_ = false;
  Status status_;
};

}  // namespace km
