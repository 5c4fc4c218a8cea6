#include "dropin/cublas/vectors/reduction.h"

#include "dropin/cublas/frame/arrays.h"
#include "dropin/cublas/frame/kernels_ptx.h"
#include "dropin/cublas/product/product.h"
#include "dropin/cublas/vectors/vectors.h"

namespace km::cublas {
namespace {

cublasStatus_t give_zero(Handle& handle, void* result, uint32_t size_bytes) {
  if (!handle.has_device_pointers()) {
    constexpr unsigned char kZeros[16] = {};
    return write_place("result", result, kZeros, size_bytes);
  }
  return status_of(handle.driver->cuMemsetD8Async(reinterpret_cast<cu::CUdeviceptr>(result), 0,
                                                  size_bytes, handle.stream));
}

}  // namespace

cublasStatus_t reduce(Handle& handle, const Reduction& reduction, int64_t n, const void* x,
                      int64_t incx, const void* y, int64_t incy, void* result) {
  LIB_REQUIRE(result);
  const bool is_of_two = reduction.routine == KMB_BLAS_DOT || reduction.routine == KMB_BLAS_DOTC;
  if (n <= 0 || (!is_of_two && incx <= 0)) {
    return give_zero(handle, result, reduction.result_bytes);
  }
  library::StreamMemory memory(*handle.driver, handle.stream);
  void* place = result;
  if (!handle.has_device_pointers()) {
    LIB_TRY(require_no_capture(handle));
    LIB_CHECK(memory.allocate(16));
    place = reinterpret_cast<void*>(memory.address());
  }
  Request request(handle, reduction.routine, reduction.type);
  request.n(n).x(x, incx, static_cast<uint64_t>(n));
  if (is_of_two) request.y(y, incy, static_cast<uint64_t>(n));
  LIB_TRY(request.result(place, reduction.result_bytes).submit());
  if (handle.has_device_pointers()) return CUBLAS_STATUS_SUCCESS;
  return give_result(handle, memory.address(), result, reduction.result_bytes);
}

cublasStatus_t find_index(Handle& handle, km_data_type type, bool is_least, int64_t n,
                          const void* x, int64_t incx, void* result, uint32_t result_bytes) {
  LIB_REQUIRE(result);
  if (n <= 0 || incx <= 0) return give_zero(handle, result, result_bytes);
  if (is_least) {
    VectorCall call(handle, kVectorLeast);
    LIB_TRY(call.set_x(x, cuda_type_of(type), n, incx));
    return call.reduce("find_extreme", result, static_cast<int>(result_bytes), result_bytes);
  }
  if (!handle.has_device_pointers()) LIB_TRY(require_no_capture(handle));
  library::StreamMemory memory(*handle.driver, handle.stream);
  LIB_CHECK(memory.allocate(16));
  LIB_TRY(Request(handle, KMB_BLAS_IAMAX, type)
              .n(n)
              .x(x, incx, static_cast<uint64_t>(n))
              .result(reinterpret_cast<void*>(memory.address()), 8)
              .submit());
  if (handle.has_device_pointers()) {
    LIB_TRY(KernelArrays(handle).add("result", result, 1, result_bytes).status());
  }
  IndexParameters parameters{memory.address(), reinterpret_cast<uint64_t>(result),
                             static_cast<int>(result_bytes)};
  if (!handle.has_device_pointers()) parameters.target = memory.address() + 8;
  LIB_CHECK(vector_kernels().launch(*handle.driver, handle.stream, "count_from_one", {1, 1, 1}, 1,
                                    parameters));
  if (handle.has_device_pointers()) return CUBLAS_STATUS_SUCCESS;
  return give_result(handle, memory.address() + 8, result, result_bytes);
}

}  // namespace km::cublas
