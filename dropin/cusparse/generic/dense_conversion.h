// Conversions between sparse and dense matrices.
#pragma once

#include "dropin/cusparse/matrix/descriptors.h"

namespace km::cusparse {

cusparseStatus_t check_to_dense(cusparseConstSpMatDescr_t a, cusparseDnMatDescr_t b);
cusparseStatus_t sparse_to_dense(const Handle& handle, cusparseConstSpMatDescr_t a,
                                 cusparseDnMatDescr_t b);

cusparseStatus_t check_to_sparse(cusparseConstDnMatDescr_t a, cusparseSpMatDescr_t b);
/// Counts the elements: writes the offsets of CSR and CSC, and nnz into the descriptor.
cusparseStatus_t count_nonzeros(const Handle& handle, cusparseConstDnMatDescr_t a,
                                cusparseSpMatDescr_t b);
cusparseStatus_t dense_to_sparse(const Handle& handle, cusparseConstDnMatDescr_t a,
                                 cusparseSpMatDescr_t b);

}  // namespace km::cusparse
