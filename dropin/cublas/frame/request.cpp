#include "dropin/cublas/frame/request.h"

#include "core/queue/submit_blas.h"

#include <algorithm>
#include <cinttypes>
#include <cstdlib>
#include <iterator>

namespace km::cublas {
namespace {

/// The maximum size in BLAS libraries with 32-bit integers.
constexpr int64_t kMost = INT32_MAX;

}  // namespace

uint32_t size_of(km_data_type type) {
  constexpr uint32_t kSizes[] = {0, 4, 8, 8, 16, 2, 2};
  return type >= 0 && type <= KM_DATA_TYPE_BF16 ? kSizes[type] : 0;
}

void parts_of(km_data_type type, const void* number, double (&out)[2]) {
  out[0] = real_at(number, 0, is_double(type));
  out[1] = is_complex(type) ? real_at(number, 1, is_double(type)) : 0;
}

Request::Request(Handle& handle, kmb_blas_routine routine, km_data_type type)
    : handle_(handle), element_bytes_(size_of(type)) {
  request_.call.routine = routine;
  request_.call.type = type;
  request_.call.layout = KM_BLAS_LAYOUT_COLUMNS;
  request_.call.batch_count = 1;
}

Request& Request::fail(cublasStatus_t status) {
  if (status_ == CUBLAS_STATUS_SUCCESS) status_ = status;
  return *this;
}

Request& Request::operation(const char* name, cublasOperation_t value,
                            km_blas_operation kmb_blas_call::* member) {
  if (value < CUBLAS_OP_N || value > CUBLAS_OP_C) {
    return fail(invalid("%s is %d, which is not an operation", name, static_cast<int>(value)));
  }
  constexpr km_blas_operation kOperations[] = {KM_BLAS_OPERATION_NONE, KM_BLAS_OPERATION_TRANSPOSE,
                                               KM_BLAS_OPERATION_CONJUGATE_TRANSPOSE};
  request_.call.*member = kOperations[value];
  return *this;
}

Request& Request::triangle(cublasFillMode_t value) {
  if (value != CUBLAS_FILL_MODE_LOWER && value != CUBLAS_FILL_MODE_UPPER) {
    return fail(invalid("uplo is %d, which is not a triangle", static_cast<int>(value)));
  }
  request_.call.triangle =
      value == CUBLAS_FILL_MODE_LOWER ? KM_BLAS_TRIANGLE_LOWER : KM_BLAS_TRIANGLE_UPPER;
  return *this;
}

Request& Request::diagonal(cublasDiagType_t value) {
  if (value != CUBLAS_DIAG_NON_UNIT && value != CUBLAS_DIAG_UNIT) {
    return fail(invalid("diag is %d, which is not a kind of diagonal", static_cast<int>(value)));
  }
  request_.call.diagonal =
      value == CUBLAS_DIAG_UNIT ? KM_BLAS_DIAGONAL_UNIT : KM_BLAS_DIAGONAL_STORED;
  return *this;
}

Request& Request::side(cublasSideMode_t value) {
  if (value != CUBLAS_SIDE_LEFT && value != CUBLAS_SIDE_RIGHT) {
    return fail(invalid("side is %d, which is not a side", static_cast<int>(value)));
  }
  request_.call.side = value == CUBLAS_SIDE_LEFT ? KM_BLAS_SIDE_LEFT : KM_BLAS_SIDE_RIGHT;
  return *this;
}

Request& Request::size(const char* name, int64_t value, uint64_t kmb_blas_call::* member,
                       bool empties) {
  if (value < 0 || value > kMost) {
    return fail(invalid("%s is %" PRId64 "; it can be 0 to %" PRId64, name, value, kMost));
  }
  if (value == 0 && empties) is_empty_ = true;
  request_.call.*member = static_cast<uint64_t>(value);
  return *this;
}

Request& Request::scalar(const char* name, const void* value, bool is_real, double* out) {
  if (status_ != CUBLAS_STATUS_SUCCESS || is_empty_) return *this;
  if (value == nullptr) return fail(invalid("%s is null", name));
  const km_data_type type = request_.call.type;
  const bool has_two = is_complex(type) && !is_real;
  kmb_blas_device_scalars& device = request_.call.device_scalars;
  if (handle_.has_device_pointers()) {
    const bool is_alpha = out == request_.call.alpha;
    (is_alpha ? device.has_real_alpha : device.has_real_beta) = is_real ? 1 : 0;
    return device_scalars(name, value, has_two ? 2 : 1, is_alpha ? &device.alpha : &device.beta);
  }
  double number[2];
  const cublasStatus_t read = read_place(name, value, number, (has_two ? 2 : 1) * real_bytes());
  if (read != CUBLAS_STATUS_SUCCESS) return fail(read);
  out[0] = real_at(number, 0, is_double(type));
  out[1] = has_two ? real_at(number, 1, is_double(type)) : 0;
  return *this;
}

Request& Request::device_scalars(const char* name, const void* values, uint32_t count,
                                 uint64_t* out) {
  if (status_ != CUBLAS_STATUS_SUCCESS || is_empty_) return *this;
  *out = reinterpret_cast<uint64_t>(values);
  const uint64_t bytes = count * real_bytes();
  add({name, *out, 1, bytes, bytes, 1, 0, false, true});
  return *this;
}

Request& Request::device_alpha(uint64_t address) {
  const uint32_t count = is_complex(request_.call.type) ? 2 : 1;
  return device_scalars("alpha", reinterpret_cast<const void*>(address), count,
                        &request_.call.device_scalars.alpha);
}

Request& Request::device_beta(uint64_t address) {
  const uint32_t count = is_complex(request_.call.type) ? 2 : 1;
  return device_scalars("beta", reinterpret_cast<const void*>(address), count,
                        &request_.call.device_scalars.beta);
}

Request& Request::scalars(const double (&alpha)[2], const double (&beta)[2]) {
  std::copy(alpha, alpha + 2, request_.call.alpha);
  std::copy(beta, beta + 2, request_.call.beta);
  return *this;
}

Request& Request::rotation(const char* name, const void* values, uint32_t first, uint32_t count) {
  if (status_ != CUBLAS_STATUS_SUCCESS || is_empty_) return *this;
  if (values == nullptr) return fail(invalid("%s is null", name));
  if (handle_.has_device_pointers()) {
    return device_scalars(name, values, count, &request_.call.device_scalars.rotation[first]);
  }
  double numbers[std::size(kmb_blas_call{}.rotation)];
  const cublasStatus_t read = read_place(name, values, numbers, count * real_bytes());
  if (read != CUBLAS_STATUS_SUCCESS) return fail(read);
  for (uint32_t i = 0; i < count; ++i) {
    request_.call.rotation[first + i] = real_at(numbers, i, is_double(request_.call.type));
  }
  return *this;
}

void Request::add(const library::BlasArray& array) {
  request_.arrays[request_.array_count++] = array;
}

Request& Request::vector(const char* name, const void* data, int64_t increment, uint64_t count,
                         Array array, bool is_written) {
  if (status_ != CUBLAS_STATUS_SUCCESS || is_empty_) return *this;
  if (data == nullptr && count != 0) return fail(invalid("%s is null", name));
  if (is_order_free(request_.call.routine)) increment = std::abs(increment);
  if (increment == 0 || increment > kMost || increment < -kMost) {
    return fail(invalid("inc%s is %" PRId64 "; it can be -2147483647 to 2147483647, but not 0",
                        name, increment));
  }
  const auto distance = static_cast<uint64_t>(std::abs(increment));
  if (request_.call.routine == KMB_BLAS_DOT || request_.call.routine == KMB_BLAS_DOTC) {
    // c holds the result
    array = array == &kmb_blas_call::b ? &kmb_blas_call::a : &kmb_blas_call::b;
  }
  const auto address = reinterpret_cast<uint64_t>(data);
  library::BlasArray region{name, address, 0, 0, 0, 1, 0, is_written, false};
  region.lines = distance == 1 ? std::min<uint64_t>(count, 1) : count;
  region.line_bytes = distance == 1 ? count * element_bytes_ : element_bytes_;
  region.pitch_bytes = distance * element_bytes_;
  add(region);
  request_.call.*array = {address, increment, 0};
  return *this;
}

Request& Request::matrix(const char* name, const char* leading_name, const void* data,
                         int64_t leading, int64_t rows, int64_t columns, int64_t stride,
                         Array array, bool is_written) {
  if (status_ != CUBLAS_STATUS_SUCCESS) return *this;
  if (leading < std::max<int64_t>(rows, 1) || leading > kMost) {
    return fail(invalid("%s is %" PRId64 "; columns of %s have %" PRId64 " elements", leading_name,
                        leading, name, rows));
  }
  if (is_empty_) return *this;
  const auto address = reinterpret_cast<uint64_t>(data);
  const uint64_t batch_count = request_.call.batch_count;
  const bool has_elements = rows != 0 && columns != 0;
  if (data == nullptr && has_elements) return fail(invalid("%s is null", name));
  if (stride < 0 && batch_count > 1) {
    return fail(unsupported("the stride of %s is %" PRId64
                            "; begin at the other end, or give an array "
                            "of pointers",
                            name, stride));
  }
  library::BlasArray region{name, address, 0, 0, 0, batch_count, 0, is_written, false};
  region.lines = static_cast<uint64_t>(columns);
  region.line_bytes = static_cast<uint64_t>(rows) * element_bytes_;
  region.pitch_bytes = static_cast<uint64_t>(leading) * element_bytes_;
  if (batch_count > 1) region.stride_bytes = static_cast<uint64_t>(stride) * element_bytes_;
  add(region);
  request_.call.*array = {address, leading, static_cast<uint64_t>(stride)};
  return *this;
}

Request& Request::packed_a(const void* a, uint64_t order, bool is_written) {
  if (status_ != CUBLAS_STATUS_SUCCESS || is_empty_) return *this;
  if (a == nullptr) return fail(invalid("AP is null"));
  const auto address = reinterpret_cast<uint64_t>(a);
  const uint64_t bytes = order * (order + 1) / 2 * element_bytes_;
  add({"AP", address, 1, bytes, bytes, 1, 0, is_written, false});
  request_.call.a = {address, 0, 0};
  return *this;
}

Request& Request::result(void* place, uint32_t size_bytes) {
  if (status_ != CUBLAS_STATUS_SUCCESS) return *this;
  is_empty_ = false;
  const auto address = reinterpret_cast<uint64_t>(place);
  add({"result", address, 1, size_bytes, size_bytes, 1, 0, true, false});
  request_.call.c = {address, 1, 0};
  return *this;
}

cublasStatus_t Request::submit() {
  if (status_ != CUBLAS_STATUS_SUCCESS || is_empty_) return status_;
  return status_of(handle_.driver->table->submit_blas(handle_.stream, &request_));
}

}  // namespace km::cublas
