// Products with a dense matrix and a sparse vector (gemvi), and of BSR matrices (bsrmv, bsrmm,
// bsrxmv).
#pragma once

#include "dropin/cusparse/generic/product.h"
#include "dropin/cusparse/legacy/matrices.h"

namespace km::cusparse {

/// The arguments of gemvi.
struct GemviCall {
  cusparseOperation_t operation;
  int rows, cols;
  const void* alpha;
  const void* a;
  int lda, nnz;
  const void* x;
  const int* indices;
  const void* beta;
  void* y;
  cusparseIndexBase_t base;
};
cusparseStatus_t gemvi(const Handle& handle, cudaDataType type, const GemviCall& call);

/// A BSR matrix as the functions have it.
struct BsrArguments {
  cusparseDirection_t direction;
  int rows, cols, block_count;  // in blocks
  cusparseMatDescr_t settings;
  IntArrays arrays;
  int block;
};
cusparseStatus_t read_bsr(const BsrArguments& arguments, cudaDataType type, SpMat* out);

/// y = alpha * op(A) * x + beta * y.
cusparseStatus_t bsrmv(const Handle& handle, cudaDataType type, const BsrArguments& a,
                       cusparseOperation_t operation, const void* alpha, const void* x,
                       const void* beta, void* y);

/// The dense operands of bsrmm, by columns.
struct BsrmmCall {
  cusparseOperation_t operation_a, operation_b;
  int cols;
  const void* alpha;
  const void* b;
  int ldb;
  const void* beta;
  void* c;
  int ldc;
};
cusparseStatus_t bsrmm(const Handle& handle, cudaDataType type, const BsrArguments& a,
                       const BsrmmCall& call);

/// bsrmv of the block rows that a mask names; rows end where `ends` says.
struct BsrxmvCall {
  cusparseOperation_t operation;
  int mask_size;
  const void* alpha;
  const int* mask;
  const int* ends;
  const void* x;
  const void* beta;
  void* y;
};
cusparseStatus_t bsrxmv(const Handle& handle, cudaDataType type, const BsrArguments& a,
                        const BsrxmvCall& call);

}  // namespace km::cusparse
