#include "dropin/cusolver/frame/job.h"

#include <climits>

namespace km::cusolver {

Job& Job::size(const char* name, int64_t value) {
  if (status_ != CUSOLVER_STATUS_SUCCESS || (value >= 0 && value <= INT_MAX)) return *this;
  return fail(
      invalid("%s is %lld, which is not from 0 to 2^31-1", name, static_cast<long long>(value)));
}

Job& Job::choice(const char* name, int64_t value, bool is_valid) {
  if (status_ != CUSOLVER_STATUS_SUCCESS || is_valid) return *this;
  return fail(
      invalid("%s is %lld, which is none of its values", name, static_cast<long long>(value)));
}

Job& Job::fill(cublasFillMode_t value) {
  return choice("uplo", value, value == CUBLAS_FILL_MODE_LOWER || value == CUBLAS_FILL_MODE_UPPER);
}

Job& Job::operation(const char* name, cublasOperation_t value) {
  return choice(name, value, value == CUBLAS_OP_N || value == CUBLAS_OP_T || value == CUBLAS_OP_C);
}

Job& Job::job_mode(const char* name, cusolverEigMode_t value) {
  return choice(name, value,
                value == CUSOLVER_EIG_MODE_NOVECTOR || value == CUSOLVER_EIG_MODE_VECTOR);
}

Job& Job::matrix_bytes(const Matrix& matrix, uint64_t element_bytes) {
  if (status_ != CUSOLVER_STATUS_SUCCESS) return *this;
  if (matrix.leading < std::max<int64_t>(1, matrix.rows) || matrix.leading > INT_MAX) {
    return fail(invalid("the leading dimension of %s is %lld; it has %lld rows", matrix.name,
                        static_cast<long long>(matrix.leading),
                        static_cast<long long>(matrix.rows)));
  }
  if (matrix.rows <= 0 || matrix.columns <= 0 || matrix.batch_count <= 0) return *this;
  if (matrix.data == nullptr) return fail(invalid("%s is null", matrix.name));
  const __int128 most = __int128{matrix.batch_count} * std::max<int64_t>(matrix.stride, 1) *
                        static_cast<__int128>(element_bytes);
  if (matrix.stride < 0 || most > INT64_MAX) {
    return fail(
        invalid("the stride of %s is %lld", matrix.name, static_cast<long long>(matrix.stride)));
  }
  library::BlasArray array{};
  array.name = matrix.name;
  array.address = reinterpret_cast<uint64_t>(matrix.data);
  array.lines = static_cast<uint64_t>(matrix.columns);
  array.line_bytes = static_cast<uint64_t>(matrix.rows) * element_bytes;
  array.pitch_bytes = static_cast<uint64_t>(matrix.leading) * element_bytes;
  array.batch_count = static_cast<uint64_t>(matrix.batch_count);
  array.stride_bytes = static_cast<uint64_t>(matrix.stride) * element_bytes;
  array.is_written = matrix.is_written;
  arrays_.push_back(array);
  return *this;
}

Job& Job::vector_bytes(const char* name, const void* data, int64_t count, uint64_t element_bytes,
                       bool is_written) {
  if (status_ != CUSOLVER_STATUS_SUCCESS || count <= 0) return *this;
  if (data == nullptr) return fail(invalid("%s is null", name));
  if (count > INT64_MAX / static_cast<int64_t>(element_bytes)) {
    return fail(invalid("%s has too many elements", name));
  }
  arrays_.push_back(
      library::whole_array(name, data, static_cast<uint64_t>(count) * element_bytes, is_written));
  return *this;
}

uint64_t Job::time_of(double flops) {
  constexpr double kFlopsPerNs = 4, kLeastNs = 1000, kMostNs = 1e15;
  return static_cast<uint64_t>(std::clamp(flops / kFlopsPerNs, kLeastNs, kMostNs));
}

cusolverStatus_t Job::queue(std::shared_ptr<const library::Work> work) {
  return status_of(library::submit(handle_.stream, std::move(work), arrays_));
}

cusolverStatus_t Job::wait() {
  return status_of(handle_.driver->cuStreamSynchronize(handle_.stream));
}

Job& Job::not_captured(const char* why) {
  if (status_ != CUSOLVER_STATUS_SUCCESS) return *this;
  cu::CUstreamCaptureStatus capture{};
  const cu::CUresult asked = handle_.driver->cuStreamIsCapturing(handle_.stream, &capture);
  if (asked != cu::CUDA_SUCCESS) return fail(status_of(asked));
  if (capture == cu::CU_STREAM_CAPTURE_STATUS_NONE) return *this;
  return fail(unsupported("%s is given to the host, for which a capture cannot wait", why));
}

cusolverStatus_t check_work(int64_t lwork) {
  if (lwork >= kWorkElements) return CUSOLVER_STATUS_SUCCESS;
  return invalid("lwork is %lld; the bufferSize function says %d", static_cast<long long>(lwork),
                 kWorkElements);
}

}  // namespace km::cusolver
