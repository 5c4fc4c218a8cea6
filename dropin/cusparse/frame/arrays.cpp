#include "dropin/cusparse/frame/arrays.h"

namespace km::cusparse {

Arrays& Arrays::add(const char* name, const void* address, int64_t count, uint64_t element_bytes,
                    bool is_written) {
  if (count == 0 || count_ == arrays_.size()) return *this;
  uint64_t bytes = 0;
  const bool is_too_large =
      count < 0 || __builtin_mul_overflow(static_cast<uint64_t>(count), element_bytes, &bytes);
  if (is_too_large) bytes = UINT64_MAX / 2;
  arrays_[count_++] = library::whole_array(name, address, bytes, is_written);
  return *this;
}

cusparseStatus_t Scalar::set(const Handle& handle, const char* name, const void* place,
                             cudaDataType type, Arrays& arrays) {
  if (place == nullptr) return invalid("%s is null", name);
  const uint32_t size_bytes = bytes_of(type);
  if (handle.has_device_pointers()) {
    device_ = place;
    arrays.read(name, place, 1, size_bytes);
    return CUSPARSE_STATUS_SUCCESS;
  }
  if (library::read_host(bytes_, place, size_bytes)) return CUSPARSE_STATUS_SUCCESS;
  return invalid("%s is %p, which is not readable host memory", name, place);
}

cusparseStatus_t ask_captured(const Handle& handle, bool* is_captured) {
  cu::CUstreamCaptureStatus status = cu::CU_STREAM_CAPTURE_STATUS_NONE;
  LIB_CHECK(handle.driver->cuStreamIsCapturing(handle.stream, &status));
  *is_captured = status != cu::CU_STREAM_CAPTURE_STATUS_NONE;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t require_no_capture(const Handle& handle, const char* reason) {
  bool is_captured = false;
  LIB_TRY(ask_captured(handle, &is_captured));
  if (!is_captured) return CUSPARSE_STATUS_SUCCESS;
  return unsupported("%s has results for the host, which a capture cannot give", reason);
}

cu::CUresult result_of(const Status& status) noexcept {
  if (status) return cu::CUDA_SUCCESS;
  const Error& error = status.error();
  const bool is_address = error.status == KM_ERROR_ILLEGAL_ADDRESS;
  return library::fail_work(
      is_address ? cu::CUDA_ERROR_ILLEGAL_ADDRESS : cu::CUDA_ERROR_NOT_SUPPORTED, "%s",
      error.message.c_str());
}

cu::CUresult bad_index(const char* what, int64_t index, int64_t end) {
  return result_of(sparse::bad_index(what, index, end));
}

}  // namespace km::cusparse
