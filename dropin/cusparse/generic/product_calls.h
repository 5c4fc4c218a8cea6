// The checks of SpMV and SpMM, which end in a Product.
#pragma once

#include "dropin/cusparse/generic/product.h"

namespace km::cusparse {

/// The arguments of SpMV.
struct VectorProductCall {
  cusparseOperation_t operation;
  const void* alpha;
  cusparseConstSpMatDescr_t a;
  cusparseConstDnVecDescr_t x;
  const void* beta;
  cusparseConstDnVecDescr_t old;  // the vector that beta scales; null: y
  cusparseConstDnVecDescr_t y;
  cudaDataType compute;
};
/// The arguments of SpMM.
struct MatrixProductCall {
  cusparseOperation_t operation_a, operation_b;
  const void* alpha;
  cusparseConstSpMatDescr_t a;
  cusparseConstDnMatDescr_t b;
  const void* beta;
  cusparseConstDnMatDescr_t c;
  cudaDataType compute;
};

/// Checks the call; with scalars and arrays only if `is_complete`.
cusparseStatus_t prepare(const Handle& handle, const VectorProductCall& call, bool is_complete,
                         Product* product, Arrays* arrays);
cusparseStatus_t prepare(const Handle& handle, const MatrixProductCall& call, bool is_complete,
                         Product* product, Arrays* arrays);

}  // namespace km::cusparse
