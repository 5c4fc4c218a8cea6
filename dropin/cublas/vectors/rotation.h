// Plane rotations, computed on the host or by kernels.
#pragma once

#include "dropin/cublas/frame/request.h"

namespace km::cublas {

/// rotg; the pointer mode says whether the scalars are in host or device memory.
cublasStatus_t make_rotation(Handle& handle, km_data_type type, void* a, void* b, void* c, void* s);
cublasStatus_t make_modified_rotation(Handle& handle, km_data_type type, void* d1, void* d2,
                                      void* x1, const void* y1, void* parameters);
/// rot with a complex s.
cublasStatus_t rotate_complex(Handle& handle, km_data_type type, int64_t n, void* x, int64_t incx,
                              void* y, int64_t incy, const void* c, const void* s);

}  // namespace km::cublas
