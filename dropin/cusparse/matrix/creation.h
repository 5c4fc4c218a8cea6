// The checks of new descriptors, and copies of their members for programs.
#pragma once

#include "dropin/cusparse/matrix/descriptors.h"

namespace km::cusparse {

struct MatrixArrays {
  const void* offsets;  // COO: row indices
  const void* indices;
  const void* values;
};
struct MatrixTypes {
  cusparseIndexType_t offsets, indices;
  cusparseIndexBase_t base;
  cudaDataType values;
};

void set_arrays(SpMat& matrix, const MatrixArrays& arrays, const MatrixTypes& types);

/// CUSPARSE_STATUS_INVALID_VALUE for sizes and enumerations that no matrix has,
/// CUSPARSE_STATUS_NOT_SUPPORTED for indices of 16 bits.
cusparseStatus_t check_matrix(const SpMat& matrix);
cusparseStatus_t check_dense(const DnMat& matrix);
cusparseStatus_t check_dense_vector(const DnVec& vector);
cusparseStatus_t check_sparse_vector(const SpVec& vector);

/// Places for a matrix's members; the program may pass null for none of them.
struct MatrixPlaces {
  int64_t* rows;
  int64_t* cols;
  int64_t* nnz;
  const void** offsets;
  const void** indices;
  const void** values;
  cusparseIndexType_t* offsets_type;
  cusparseIndexType_t* indices_type;
  cusparseIndexBase_t* base;
  cudaDataType* type;
};
/// Stores the members of a matrix of the format. `wants_variable` refuses constant descriptors.
cusparseStatus_t give_matrix(cusparseConstSpMatDescr_t id, cusparseFormat_t format,
                             bool wants_variable, const MatrixPlaces& places);
/// Replaces the arrays of a matrix of the format.
cusparseStatus_t set_pointers(cusparseSpMatDescr_t id, cusparseFormat_t format, void* offsets,
                              void* indices, void* values);

}  // namespace km::cusparse
