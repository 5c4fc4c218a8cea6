// Numbers of cuBLAS's types on the host.
#pragma once

#include "dropin/cublas/types.h"

namespace km::cublas {

/// The parts of a number of a cudaDataType; false: scalars have no such type.
bool read_number(int cuda_type, const void* number, double (&out)[2]);

/// read_number() for a number of the program's, which may not be there. `what_instead` is said for
/// types that scalars do not have.
cublasStatus_t read_scalar(const char* name, int cuda_type, const void* place,
                           const char* what_instead, double (&out)[2]);

}  // namespace km::cublas
