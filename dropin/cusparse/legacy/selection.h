// Choices of entries by size: nnz, compression and pruning.
#pragma once

#include "dropin/cusparse/legacy/matrices.h"

namespace km::cusparse {

/// Counts the nonzeros of a dense matrix, and those of each row or column.
struct CountCall {
  cusparseDirection_t direction;
  int rows, cols;
  cusparseMatDescr_t settings;
  const void* a;
  int lda;
  int* counts;
  int* total;
};
cusparseStatus_t count_dense(const Handle& handle, cudaDataType type, const CountCall& call);

/// The entries of which at most the limit's real part is the magnitude do not count.
struct CompressCall {
  int rows, cols;
  cusparseMatDescr_t settings;
  IntArrays a;
  int nnz;  // -1: only the offsets know it
  Scalar limit;
};
cusparseStatus_t count_compressed(const Handle& handle, cudaDataType type, const CompressCall& call,
                                  int* counts, int* total);
/// Writes the entries that count, and offsets by the counts of rows.
cusparseStatus_t compress(const Handle& handle, cudaDataType type, const CompressCall& call,
                          const int* counts, const IntArrays& out);

/// A dense or sparse matrix that is pruned by a threshold, or by the percentage of its elements.
struct PruneCall {
  bool is_dense;
  int rows, cols;
  const void* a;
  int lda;
  int nnz;
  cusparseMatDescr_t settings;  // of the sparse matrix
  IntArrays sparse;
  bool is_by_percentage;
  const void* threshold;
  float percentage;
  cusparseMatDescr_t result_settings;
};
cusparseStatus_t count_pruned(const Handle& handle, cudaDataType type, const PruneCall& call,
                              int* offsets, int* total);
cusparseStatus_t prune(const Handle& handle, cudaDataType type, const PruneCall& call,
                       const IntArrays& out);

}  // namespace km::cusparse
