// Products of a sparse and a dense matrix; a vector is a matrix of one column.
#pragma once

#include "dropin/cusparse/matrix/descriptors.h"
#include "math/sparse/product.h"

namespace km::cusparse {

using sparse::Operand;

/// A product whose factors may be in device memory.
struct Product : sparse::Product {
  Scalar alpha_factor, beta_factor;
};

/// CUSPARSE_STATUS_INVALID_VALUE if the operation is none.
cusparseStatus_t check_operation(const char* name, cusparseOperation_t operation);
inline bool is_plain(cusparseOperation_t operation) {
  return operation == CUSPARSE_OPERATION_NON_TRANSPOSE;
}
inline bool conjugates(cusparseOperation_t operation) {
  return operation == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
}

/// CUSPARSE_STATUS_NOT_SUPPORTED if no product has the types.
cusparseStatus_t check_product_types(cudaDataType a, cudaDataType b, cudaDataType c,
                                     cudaDataType compute);

/// A dense matrix with an operation applied.
Operand operand_of(const DnMat& m, cusparseOperation_t operation);

/// Queues a product whose operands have been checked and whose arrays are listed.
cusparseStatus_t submit_product(const Handle& handle, const Arrays& arrays, const char* name,
                                const Product& product);

}  // namespace km::cusparse
