// Routines whose result is a single number, which the pointer mode places in host or device memory.
#pragma once

#include "dropin/cublas/frame/request.h"

namespace km::cublas {

struct Reduction {
  kmb_blas_routine routine;
  km_data_type type;
  uint32_t result_bytes;
};

/// dot, nrm2 and asum; for empty vectors the result is 0. `y` is null for routines of one vector.
cublasStatus_t reduce(Handle& handle, const Reduction& reduction, int64_t n, const void* x,
                      int64_t incx, const void* y, int64_t incy, void* result);

/// Finds the 1-based index of the element with the largest or smallest magnitude; 0 for empty
/// vectors. The result has 4 or 8 bytes.
cublasStatus_t find_index(Handle& handle, km_data_type type, bool is_least, int64_t n,
                          const void* x, int64_t incx, void* result, uint32_t result_bytes);

}  // namespace km::cublas
