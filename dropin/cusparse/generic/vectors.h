// Operations of a sparse and a dense vector.
#pragma once

#include "dropin/cusparse/matrix/descriptors.h"

namespace km::cusparse {

/// The type of sums of elements of a type.
cudaDataType sum_type_of(cudaDataType type);

/// Y = alpha * X + beta * Y.
cusparseStatus_t add_scaled(const Handle& handle, const void* alpha, cusparseConstSpVecDescr_t x,
                            const void* beta, cusparseDnVecDescr_t y);
/// X's values become those of Y at X's indices.
cusparseStatus_t gather(const Handle& handle, cusparseConstDnVecDescr_t y, cusparseSpVecDescr_t x);
/// The values of Y at X's indices become those of X.
cusparseStatus_t scatter(const Handle& handle, cusparseConstSpVecDescr_t x, cusparseDnVecDescr_t y);
/// A plane rotation of X and the values of Y at X's indices.
cusparseStatus_t rotate(const Handle& handle, const void* c, const void* s, cusparseSpVecDescr_t x,
                        cusparseDnVecDescr_t y);

/// The sum of products of X with Y; X is conjugated on request.
struct DotCall {
  cusparseOperation_t operation;
  cusparseConstSpVecDescr_t x;
  cusparseConstDnVecDescr_t y;
  cudaDataType compute;
};
cusparseStatus_t check_dot(const DotCall& call);
cusparseStatus_t dot(const Handle& handle, const DotCall& call, void* result);

}  // namespace km::cusparse
