// Types of elements and scalars, and conversion of scalars on the host.
#pragma once

#include "dropin/cublas/frame/handle.h"

namespace km::cublas {

/// The size of an element; 0 if matrices cannot have the type.
uint32_t bytes_of(int cuda_type);
/// The corresponding type of km_blas; KM_DATA_TYPE_INVALID if it has none.
km_data_type km_type_of(int cuda_type);
int cuda_type_of(km_data_type type);

/// The type in which sums are computed, and the type of the scalars.
struct ComputeTypes {
  km_data_type sums = KM_DATA_TYPE_INVALID;
  int scalars = 0;
};
/// CUBLAS_STATUS_NOT_SUPPORTED if the compute type does not suit the operands' type.
cublasStatus_t find_compute_types(int compute, int type_a, ComputeTypes* out);

/// Reads a number's real and imaginary part; returns false if scalars cannot have the type.
bool read_number(int cuda_type, const void* number, double (&out)[2]);

/// Like read_number(), for a number at a program's address, which may be invalid. `what_instead`
/// completes the message for unsupported types.
cublasStatus_t read_scalar(const char* name, int cuda_type, const void* place,
                           const char* what_instead, double (&out)[2]);

}  // namespace km::cublas
