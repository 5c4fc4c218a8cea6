// Copies of vectors and matrices between host and device memory.
#include "dropin/cublas/frame/handle.h"

namespace km::cublas {

namespace {

/// Copies `lines` runs of `line_bytes`, with a stride on each side.
struct Lines {
  int64_t count, line_bytes, from_pitch, to_pitch;
  const void* from;
  void* to;
  bool to_device;
};

cublasStatus_t copy(const Lines& lines, cu::CUstream stream, bool is_async) {
  if (lines.count == 0 || lines.line_bytes == 0) return CUBLAS_STATUS_SUCCESS;
  LIB_REQUIRE(lines.from);
  LIB_REQUIRE(lines.to);
  const Driver* const driver = library::driver();
  if (driver == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  LIB_CHECK(library::enter_context(*driver));
  cu::CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = lines.to_device ? cu::CU_MEMORYTYPE_HOST : cu::CU_MEMORYTYPE_DEVICE;
  copy.dstMemoryType = lines.to_device ? cu::CU_MEMORYTYPE_DEVICE : cu::CU_MEMORYTYPE_HOST;
  copy.srcHost = lines.from;
  copy.srcDevice = reinterpret_cast<cu::CUdeviceptr>(lines.from);
  copy.dstHost = lines.to;
  copy.dstDevice = reinterpret_cast<cu::CUdeviceptr>(lines.to);
  copy.srcPitch = static_cast<size_t>(lines.from_pitch);
  copy.dstPitch = static_cast<size_t>(lines.to_pitch);
  copy.WidthInBytes = static_cast<size_t>(lines.line_bytes);
  copy.Height = static_cast<size_t>(lines.count);
  const cu::CUresult done =
      is_async ? driver->cuMemcpy2DAsync_v2(&copy, stream) : driver->cuMemcpy2D_v2(&copy);
  return done == cu::CUDA_SUCCESS ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

cublasStatus_t copy_vector(int64_t n, int64_t element_bytes, const void* x, int64_t incx, void* y,
                           int64_t incy, bool to_device, cudaStream_t stream, bool is_async) {
  if (element_bytes <= 0 || incx <= 0 || incy <= 0 || n < 0) {
    return invalid("n, elemSize, incx and incy are %lld, %lld, %lld and %lld",
                   static_cast<long long>(n), static_cast<long long>(element_bytes),
                   static_cast<long long>(incx), static_cast<long long>(incy));
  }
  const bool is_dense = incx == 1 && incy == 1;
  const Lines lines{is_dense ? 1 : n,
                    is_dense ? n * element_bytes : element_bytes,
                    is_dense ? n * element_bytes : incx * element_bytes,
                    is_dense ? n * element_bytes : incy * element_bytes,
                    x,
                    y,
                    to_device};
  return copy(lines, reinterpret_cast<cu::CUstream>(stream), is_async);
}

cublasStatus_t copy_matrix(int64_t rows, int64_t columns, int64_t element_bytes, const void* a,
                           int64_t lda, void* b, int64_t ldb, bool to_device, cudaStream_t stream,
                           bool is_async) {
  if (rows < 0 || columns < 0 || element_bytes <= 0 || lda < rows || ldb < rows || lda <= 0 ||
      ldb <= 0) {
    return invalid("rows, cols, elemSize, lda and ldb are %lld, %lld, %lld, %lld and %lld",
                   static_cast<long long>(rows), static_cast<long long>(columns),
                   static_cast<long long>(element_bytes), static_cast<long long>(lda),
                   static_cast<long long>(ldb));
  }
  const Lines lines{columns,  rows * element_bytes, lda * element_bytes, ldb * element_bytes, a, b,
                    to_device};
  return copy(lines, reinterpret_cast<cu::CUstream>(stream), is_async);
}

}  // namespace

#define KM_COPIES(Verb, to_device, suffix, Int)                                                 \
  extern "C" cublasStatus_t cublas##Verb##Vector##suffix(Int n, Int elemSize, const void* x,    \
                                                         Int incx, void* y, Int incy) {         \
    return call(__func__, [&] {                                                                 \
      return copy_vector(n, elemSize, x, incx, y, incy, to_device, nullptr, false);             \
    });                                                                                         \
  }                                                                                             \
  extern "C" cublasStatus_t cublas##Verb##VectorAsync##suffix(                                  \
      Int n, Int elemSize, const void* x, Int incx, void* y, Int incy, cudaStream_t stream) {   \
    return call(__func__, [&] {                                                                 \
      return copy_vector(n, elemSize, x, incx, y, incy, to_device, stream, true);               \
    });                                                                                         \
  }                                                                                             \
  extern "C" cublasStatus_t cublas##Verb##Matrix##suffix(                                       \
      Int rows, Int cols, Int elemSize, const void* A, Int lda, void* B, Int ldb) {             \
    return call(__func__, [&] {                                                                 \
      return copy_matrix(rows, cols, elemSize, A, lda, B, ldb, to_device, nullptr, false);      \
    });                                                                                         \
  }                                                                                             \
  extern "C" cublasStatus_t cublas##Verb##MatrixAsync##suffix(Int rows, Int cols, Int elemSize, \
                                                              const void* A, Int lda, void* B,  \
                                                              Int ldb, cudaStream_t stream) {   \
    return call(__func__, [&] {                                                                 \
      return copy_matrix(rows, cols, elemSize, A, lda, B, ldb, to_device, stream, true);        \
    });                                                                                         \
  }
KM_COPIES(Set, true, , int)
KM_COPIES(Set, true, _64, int64_t)
KM_COPIES(Get, false, , int)
KM_COPIES(Get, false, _64, int64_t)

}  // namespace km::cublas
