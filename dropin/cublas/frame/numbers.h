// The types of elements and scalars, and numbers of them on the host.
#pragma once

#include "dropin/cublas/frame/handle.h"

namespace km::cublas {

/// Bytes of one element; 0: no type of matrices here.
uint32_t bytes_of(int cuda_type);
/// The type that km_blas has under another number; KM_DATA_TYPE_INVALID: none.
km_data_type km_type_of(int cuda_type);
int cuda_type_of(km_data_type type);

/// In which type sums are made, and of which the scalars are.
struct ComputeTypes {
  km_data_type sums = KM_DATA_TYPE_INVALID;
  int scalars = 0;
};
/// CUBLAS_STATUS_NOT_SUPPORTED when the compute type does not go with the operands' type.
cublasStatus_t find_compute_types(int compute, int type_a, ComputeTypes* out);

/// The parts of a number of a cudaDataType; false: scalars have no such type.
bool read_number(int cuda_type, const void* number, double (&out)[2]);

/// read_number() for a number of the program's, which may not be there. `what_instead` is said for
/// types that scalars do not have.
cublasStatus_t read_scalar(const char* name, int cuda_type, const void* place,
                           const char* what_instead, double (&out)[2]);

}  // namespace km::cublas
