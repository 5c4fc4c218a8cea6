// Products of a sparse and a dense matrix; a vector is a matrix of one column.
#pragma once

#include "dropin/cusparse/matrix/descriptors.h"

namespace km::cusparse {

/// A dense operand as the product sees it, with operations and orders applied.
struct Operand {
  void* values = nullptr;
  cudaDataType type = CUDA_R_32F;
  int64_t row_stride = 0, col_stride = 0, batch_stride = 0;
  bool is_conjugate = false;
};

/// C = alpha * op(A) * B + beta * D, where D is C unless it is given.
struct Product {
  SpMat a;
  bool is_transposed = false, is_conjugate = false;  // of A
  Operand b, c, d;
  int64_t rows = 0, cols = 0;  // of C
  cudaDataType compute = CUDA_R_32F;
  int64_t batch_count = 1;
  Scalar alpha, beta;
};

/// CUSPARSE_STATUS_INVALID_VALUE if the operation is none.
cusparseStatus_t check_operation(const char* name, cusparseOperation_t operation);
inline bool is_plain(cusparseOperation_t operation) {
  return operation == CUSPARSE_OPERATION_NON_TRANSPOSE;
}

/// CUSPARSE_STATUS_NOT_SUPPORTED if no product has the types.
cusparseStatus_t check_product_types(cudaDataType a, cudaDataType b, cudaDataType c,
                                     cudaDataType compute);

/// Queues a product whose operands have been checked and whose arrays are listed.
cusparseStatus_t submit_product(const Handle& handle, const Arrays& arrays, const char* name,
                                const Product& product);

}  // namespace km::cusparse
