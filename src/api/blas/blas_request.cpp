#include "api/blas/blas_request.h"

#include <algorithm>
#include <cinttypes>
#include <cstdlib>
#include <string>

#include "backend/blas_numbers.h"
#include "base/text.h"
#include "core/queue/submit_blas.h"

namespace km {
namespace {

constexpr const char* kTypeNames[] = {"", "f32", "f64", "c32", "c64", "f16", "bf16"};

/// The types that a routine has, as text.
std::string types_of(kmb_blas_routine routine) {
  std::string text;
  for (km_data_type type = KM_DATA_TYPE_F32; type <= KM_DATA_TYPE_BF16; ++type) {
    if (blas_routine_name(routine, type) == nullptr) continue;
    if (!text.empty()) text += ", ";
    text += kTypeNames[type];
  }
  return text;
}

}  // namespace

BlasRequest::BlasRequest(Call& call, km_blas blas, kmb_blas_routine routine, km_data_type type)
    : places_(call), blas_(call.get(blas, "blas")) {
  if (blas_ == nullptr) {
    fail(call.take_error());
    return;
  }
  work_.call.routine = routine;
  work_.call.type = type;
  work_.call.layout = blas_->layout();
  work_.call.batch_count = 1;
  if (data_type_size(type) == 0 || blas_routine_name(routine, type) == nullptr) {
    fail(make_error(KM_ERROR_INVALID_ARGUMENT, "type is %d (%s); the routine takes %s", type,
                    data_type_size(type) == 0 ? "no type" : kTypeNames[type],
                    types_of(routine).c_str()));
    return;
  }
  element_bytes_ = data_type_size(type);
  real_bytes_ = real_size(type);
}

BlasRequest& BlasRequest::fail(Error error) {
  if (status_) status_ = std::move(error);
  return *this;
}

BlasRequest& BlasRequest::choice(const char* name, int32_t value,
                                 std::initializer_list<int32_t> known,
                                 int32_t kmb_blas_call::* member) {
  const Status known_one = check_choice(name, value, known);
  if (!known_one) return fail(known_one.error());
  work_.call.*member = value;
  return *this;
}

BlasRequest& BlasRequest::operation(const char* name, km_blas_operation value,
                                    km_blas_operation kmb_blas_call::* member) {
  return choice(
      name, value,
      {KM_BLAS_OPERATION_NONE, KM_BLAS_OPERATION_TRANSPOSE, KM_BLAS_OPERATION_CONJUGATE_TRANSPOSE},
      member);
}

BlasRequest& BlasRequest::operation_or(km_blas_operation value, km_blas_operation transposition) {
  if (!is_complex(work_.call.type)) {
    return operation("operation", value, &kmb_blas_call::operation_a);
  }
  if (value != KM_BLAS_OPERATION_NONE && value != transposition) {
    return fail(make_error(KM_ERROR_INVALID_ARGUMENT,
                           "operation is %d; it can be %d or %d here for complex types", value,
                           KM_BLAS_OPERATION_NONE, transposition));
  }
  work_.call.operation_a = value;
  return *this;
}

BlasRequest& BlasRequest::triangle(km_blas_triangle value) {
  return choice("triangle", value, {KM_BLAS_TRIANGLE_LOWER, KM_BLAS_TRIANGLE_UPPER},
                &kmb_blas_call::triangle);
}

BlasRequest& BlasRequest::diagonal(km_blas_diagonal value) {
  return choice("diagonal", value, {KM_BLAS_DIAGONAL_STORED, KM_BLAS_DIAGONAL_UNIT},
                &kmb_blas_call::diagonal);
}

BlasRequest& BlasRequest::side(km_blas_side value) {
  return choice("side", value, {KM_BLAS_SIDE_LEFT, KM_BLAS_SIDE_RIGHT}, &kmb_blas_call::side);
}

BlasRequest& BlasRequest::size(const char* name, uint64_t value, uint64_t kmb_blas_call::* member) {
  if (value == 0) is_empty_ = true;
  return further_size(name, value, member);
}

BlasRequest& BlasRequest::further_size(const char* name, uint64_t value,
                                       uint64_t kmb_blas_call::* member) {
  if (value > kMostSize) return fail(size_too_large(name, "", value));
  work_.call.*member = value;
  return *this;
}

BlasRequest& BlasRequest::band(uint64_t lower, uint64_t upper) {
  return further_size("lower", lower, &kmb_blas_call::lower)
      .further_size("upper", upper, &kmb_blas_call::upper);
}

BlasRequest& BlasRequest::scalar(const char* name, const void* value, bool is_real, double* out) {
  if (!status_) return *this;
  if (value == nullptr) {
    return fail(operand_is_null(name));
  }
  const bool is_double = real_bytes_ == sizeof(double);
  out[0] = real_at(value, 0, is_double);
  if (is_complex(work_.call.type) && !is_real) out[1] = real_at(value, 1, is_double);
  return *this;
}

BlasRequest& BlasRequest::rotation(const char* name, const void* values, uint32_t first,
                                   uint32_t count) {
  if (!status_) return *this;
  if (values == nullptr) {
    return fail(operand_is_null(name));
  }
  for (uint32_t i = 0; i < count; ++i) {
    work_.call.rotation[first + i] = real_at(values, i, real_bytes_ == sizeof(double));
  }
  return *this;
}

BlasRequest& BlasRequest::place(const char* name, const OperandPlace& given,
                                const BlasRegion& region, uint32_t element_bytes,
                                kmb_blas_array array, Array member, bool is_written) {
  const uint32_t alignment = std::min(element_bytes, std::max(real_bytes_, 1U));
  const Result<BlasOperand> found =
      places_.find(blas_->context(), name, given, region, element_bytes, alignment, is_written);
  if (!found) return fail(found.error());
  work_.operands[work_.operand_count++] = *found;
  array.address = found->region.address;
  work_.call.*member = array;
  return *this;
}

BlasRequest& BlasRequest::vector(const char* name, const km_blas_vector* given, uint64_t count,
                                 Array array, bool is_written) {
  if (!status_) return *this;
  if (given == nullptr) return fail(operand_is_null(name));
  int64_t increment = given->increment;
  if (is_order_free(work_.call.routine)) increment = std::abs(increment);
  if (increment < 0 && work_.call.routine == KMB_BLAS_IAMAX) {
    return fail(make_error(KM_ERROR_INVALID_ARGUMENT,
                           "%s->increment is %" PRId64 "; an index has to count upwards", name,
                           increment));
  }
  const Result<BlasRegion> region = vector_region(name, increment, count, element_bytes_);
  if (!region) return fail(region.error());
  if (work_.call.routine == KMB_BLAS_DOT || work_.call.routine == KMB_BLAS_DOTC) {
    // DOT has its result in c, so x and y move to a and b.
    array = array == &kmb_blas_call::b ? &kmb_blas_call::a : &kmb_blas_call::b;
  }
  return place(name, place_of(*given), *region, element_bytes_, {0, increment, 0}, array,
               is_written);
}

BlasRequest& BlasRequest::one_result(const km_blas_vector* given, uint32_t size_bytes) {
  if (!status_) return *this;
  if (given == nullptr) return fail(operand_is_null("result"));
  is_empty_ = false;
  BlasRegion region;
  region.lines = 1;
  region.line_bytes = size_bytes;
  return place("result", place_of(*given), region, size_bytes, {0, 1, 0}, &kmb_blas_call::c, true);
}

BlasRequest& BlasRequest::matrix(const char* name, const km_blas_matrix* given, uint64_t rows,
                                 uint64_t columns, Array array, bool is_written) {
  if (!status_) return *this;
  const bool by_rows = blas_->layout() == KM_BLAS_LAYOUT_ROWS;
  return lines(name, given, by_rows ? rows : columns, by_rows ? columns : rows, array, is_written);
}

BlasRequest& BlasRequest::band_a(const km_blas_matrix* a, uint64_t rows, uint64_t columns,
                                 uint64_t width) {
  if (!status_) return *this;
  const bool by_rows = blas_->layout() == KM_BLAS_LAYOUT_ROWS;
  return lines("a", a, by_rows ? rows : columns, width, &kmb_blas_call::a, false);
}

BlasRequest& BlasRequest::lines(const char* name, const km_blas_matrix* given, uint64_t count,
                                uint64_t length, Array array, bool is_written) {
  if (!status_) return *this;
  if (given == nullptr) return fail(operand_is_null(name));
  const Result<BlasRegion> region =
      matrix_region(name, *given, count, length, work_.call.batch_count, element_bytes_);
  if (!region) return fail(region.error());
  return place(name, place_of(*given), *region, element_bytes_,
               {0, static_cast<int64_t>(given->leading_dimension), given->stride}, array,
               is_written);
}

BlasRequest& BlasRequest::packed_a(const km_blas_matrix* a, uint64_t order, bool is_written) {
  if (!status_) return *this;
  if (a == nullptr) return fail(operand_is_null("a"));
  BlasRegion region;
  region.lines = std::min<uint64_t>(order, 1);
  if (__builtin_mul_overflow(order * (order + 1) / 2, uint64_t{element_bytes_},
                             &region.line_bytes)) {
    return fail(make_error(KM_ERROR_OUT_OF_BOUNDS, "a would have more than 2^64 bytes"));
  }
  return place("a", place_of(*a), region, element_bytes_, {0, 0, 0}, &kmb_blas_call::a, is_written);
}

Status BlasRequest::submit() {
  if (!status_) return std::move(status_);
  if (is_empty_) return {};
  return submit_blas(*blas_, work_);
}

}  // namespace km
