#include "dropin/cublas/vectors/vectors.h"

#include <cinttypes>

#include "dropin/cublas/frame/arrays.h"
#include "dropin/cublas/frame/kernels_ptx.h"
#include "dropin/cublas/frame/numbers.h"
#include "dropin/cublas/product/product.h"

namespace km::cublas {
namespace {

constexpr unsigned kThreads = 256;
constexpr int64_t kMost = INT32_MAX;

}  // namespace

cublasStatus_t VectorCall::set(const char* name, const void* data, int type, int64_t increment,
                               unsigned long long* address, long long* step) {
  if (data == nullptr) return invalid("%s is null", name);
  if (bytes_of(type) == 0) {
    return unsupported("%s of type %d is not there; convert it to CUDA_R_32F", name, type);
  }
  if (increment == 0 || increment > kMost || increment < -kMost) {
    return invalid("inc%s is %" PRId64 "; it can be -2147483647 to 2147483647, but not 0", name,
                   increment);
  }
  *address = reinterpret_cast<uint64_t>(data);
  if (increment < 0) {
    *address += static_cast<uint64_t>((1 - parameters_.count) * increment) * bytes_of(type);
  }
  *step = increment;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t VectorCall::set_x(const void* x, int type, int64_t count, int64_t increment) {
  if (count > kMost)
    return invalid("n is %" PRId64 "; at most %" PRId64 " is possible", count, kMost);
  parameters_.count = count;
  parameters_.type_x = type;
  return set("x", x, type, increment, &parameters_.x, &parameters_.step_x);
}

cublasStatus_t VectorCall::set_y(const void* y, int type, int64_t increment) {
  parameters_.type_y = type;
  return set("y", y, type, increment, &parameters_.y, &parameters_.step_y);
}

cublasStatus_t VectorCall::set_scalar(const char* name, const void* value, int type,
                                      DeviceScalar* out) {
  if (value == nullptr) return invalid("%s is null", name);
  out->type = type;
  if (handle_.has_device_pointers()) {
    out->address = reinterpret_cast<uint64_t>(value);
    return CUBLAS_STATUS_SUCCESS;
  }
  return read_scalar(name, type, value, "give it as CUDA_R_32F", out->value);
}

cublasStatus_t VectorCall::set_alpha(const char* name, const void* value, int type) {
  return set_scalar(name, value, type, &parameters_.alpha);
}

cublasStatus_t VectorCall::set_beta(const char* name, const void* value, int type) {
  return set_scalar(name, value, type, &parameters_.beta);
}

cublasStatus_t VectorCall::check_arrays() const {
  const ArrayShape x{parameters_.count, 1, parameters_.step_x};
  const ArrayShape y{parameters_.count, 1, parameters_.step_y};
  return KernelArrays(handle_)
      .add("x", parameters_.x, x, bytes_of(parameters_.type_x))
      .add("y", parameters_.y, y, bytes_of(parameters_.type_y))
      .add("alpha", parameters_.alpha)
      .add("beta", parameters_.beta)
      .status();
}

cublasStatus_t VectorCall::map(const char* kernel) {
  LIB_TRY(check_arrays());
  const auto count = static_cast<uint64_t>(parameters_.count);
  return status_of(vector_kernels().launch(*handle_.driver, handle_.stream, kernel,
                                           {blocks_of(count, kThreads), 1, 1}, kThreads,
                                           parameters_));
}

cublasStatus_t VectorCall::reduce(const char* kernel, void* result, int type, uint32_t size_bytes) {
  LIB_REQUIRE(result);
  LIB_TRY(check_arrays());
  if (handle_.has_device_pointers()) {
    LIB_TRY(KernelArrays(handle_).add("result", result, 1, size_bytes).status());
  }
  parameters_.type_result = type;
  library::StreamMemory memory(*handle_.driver, handle_.stream);
  parameters_.result = reinterpret_cast<uint64_t>(result);
  if (!handle_.has_device_pointers()) {
    LIB_TRY(require_no_capture(handle_));
    LIB_CHECK(memory.allocate(16));
    parameters_.result = memory.address();
  }
  LIB_CHECK(vector_kernels().launch(*handle_.driver, handle_.stream, kernel, {1, 1, 1}, kThreads,
                                    parameters_));
  return handle_.has_device_pointers() ? CUBLAS_STATUS_SUCCESS
                                       : give_result(handle_, memory.address(), result, size_bytes);
}

cublasStatus_t require_no_capture(const Handle& handle) {
  cu::CUstreamCaptureStatus capture{};
  LIB_CHECK(handle.driver->cuStreamIsCapturing(handle.stream, &capture));
  if (capture == cu::CU_STREAM_CAPTURE_STATUS_NONE) return CUBLAS_STATUS_SUCCESS;
  return unsupported(
      "the stream is captured, and a result for the host needs a wait; set "
      "CUBLAS_POINTER_MODE_DEVICE and give device memory for the result");
}

cublasStatus_t give_result(Handle& handle, uint64_t device, void* result, uint32_t size_bytes) {
  LIB_CHECK(handle.driver->cuMemcpyDtoHAsync_v2(result, device, size_bytes, handle.stream));
  return status_of(handle.driver->cuStreamSynchronize(handle.stream));
}

}  // namespace km::cublas
