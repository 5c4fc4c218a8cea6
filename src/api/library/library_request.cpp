#include "api/library/library_request.h"

#include <algorithm>

#include "backend/blas_numbers.h"
#include "core/queue/submit_library.h"

namespace km {

LibraryRequest::LibraryRequest(Call& call, const char* name, kmb_library_kind kind)
    : call_(call), places_(call) {
  work_.call.name = name;
  work_.call.kind = kind;
}

void LibraryRequest::fail(Error error) {
  if (status_) status_ = std::move(error);
}

void LibraryRequest::set_owner(Stream& stream, ContextChild& holder) {
  stream_ = &stream;
  work_.holder = Ref<ContextChild>::share(holder);
}

Blas* LibraryRequest::blas(km_blas blas) {
  Blas* const found = call_.get(blas, "blas");
  if (found == nullptr) {
    fail(call_.take_error());
    return nullptr;
  }
  set_owner(found->stream(), found->engine());
  return found;
}

void LibraryRequest::type(km_data_type value, km_data_type* out) {
  choice("type", value, {KM_DATA_TYPE_F32, KM_DATA_TYPE_F64, KM_DATA_TYPE_C32, KM_DATA_TYPE_C64},
         out);
}

void LibraryRequest::operation(const char* name, km_blas_operation value, km_blas_operation* out) {
  choice(
      name, value,
      {KM_BLAS_OPERATION_NONE, KM_BLAS_OPERATION_TRANSPOSE, KM_BLAS_OPERATION_CONJUGATE_TRANSPOSE},
      out);
}

void LibraryRequest::triangle(km_blas_triangle value, km_blas_triangle* out) {
  choice("triangle", value, {KM_BLAS_TRIANGLE_LOWER, KM_BLAS_TRIANGLE_UPPER}, out);
}

void LibraryRequest::choice(const char* name, int32_t value, std::initializer_list<int32_t> known,
                            int32_t* out) {
  const Status known_one = check_choice(name, value, known);
  if (!known_one) return fail(known_one.error());
  *out = value;
}

void LibraryRequest::size(const char* name, uint64_t value, uint64_t* out) {
  if (value > kMostSize) return fail(size_too_large(name, "", value));
  *out = value;
}

void LibraryRequest::scalar(const char* name, const void* value, km_data_type type, double* out) {
  if (failed()) return;
  if (value == nullptr) return fail(operand_is_null(name));
  out[0] = real_at(value, 0, is_double(type));
  out[1] = is_complex(type) ? real_at(value, 1, is_double(type)) : 0;
}

void LibraryRequest::place(const char* name, const OperandPlace& given, const BlasRegion& region,
                           uint32_t element_bytes, uint32_t alignment, Use use,
                           uint64_t* out_address) {
  if (failed()) return;
  KM_ASSERT(stream_ != nullptr, "a call has its owner before its arrays");
  Result<BlasOperand> found = places_.find(stream_->context(), name, given, region, element_bytes,
                                           alignment, use.is_written);
  if (!found) return fail(found.error());
  found->may_be_output = use.may_be_output;
  *out_address = found->region.address;
  KM_ASSERT(work_.operand_count < kMostOperands, "a call has no more arrays");
  work_.operands[work_.operand_count++] = std::move(*found);
}

void LibraryRequest::vector(const char* name, const km_blas_vector* given, uint64_t count,
                            km_data_type type, Use use, kmb_blas_array* out) {
  if (failed()) return;
  if (given == nullptr) return fail(operand_is_null(name));
  const uint32_t element_bytes = data_type_size(type);
  const Result<BlasRegion> region = vector_region(name, given->increment, count, element_bytes);
  if (!region) return fail(region.error());
  out->step = given->increment;
  place(name, place_of(*given), *region, element_bytes, real_size(type), use, &out->address);
}

void LibraryRequest::matrix(const char* name, const km_blas_matrix* given, km_blas_layout layout,
                            uint64_t rows, uint64_t columns, uint64_t batch_count,
                            km_data_type type, Use use, kmb_blas_array* out) {
  if (failed()) return;
  if (given == nullptr) return fail(operand_is_null(name));
  const uint32_t element_bytes = data_type_size(type);
  const bool by_rows = layout == KM_BLAS_LAYOUT_ROWS;
  const Result<BlasRegion> region = matrix_region(
      name, *given, by_rows ? rows : columns, by_rows ? columns : rows, batch_count, element_bytes);
  if (!region) return fail(region.error());
  out->step = static_cast<int64_t>(given->leading_dimension);
  out->stride = given->stride;
  place(name, place_of(*given), *region, element_bytes, real_size(type), use, &out->address);
}

void LibraryRequest::array(const char* name, const km_array* given, uint64_t count,
                           uint64_t batch_count, uint32_t element_bytes, Use use,
                           kmb_blas_array* out) {
  if (failed()) return;
  if (given == nullptr) return fail(operand_is_null(name));
  BlasRegion region;
  region.lines = std::min<uint64_t>(count, 1);
  region.batch_count = batch_count;
  if (__builtin_mul_overflow(count, uint64_t{element_bytes}, &region.line_bytes) ||
      (batch_count > 1 &&
       __builtin_mul_overflow(given->stride, uint64_t{element_bytes}, &region.stride_bytes))) {
    return fail(make_error(KM_ERROR_OUT_OF_BOUNDS, "%s would have more than 2^64 bytes", name));
  }
  out->step = 1;
  out->stride = given->stride;
  place(name, place_of(*given), region, element_bytes, std::min(element_bytes, 8U), use,
        &out->address);
}

Status LibraryRequest::submit() {
  if (!status_) return std::move(status_);
  if (is_empty_) return {};
  return submit_library(*stream_, work_);
}

}  // namespace km
