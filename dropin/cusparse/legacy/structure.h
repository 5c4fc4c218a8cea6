// Changes of a matrix's structure: offsets to indices and back, sorting, CSR to CSC.
#pragma once

#include "dropin/cusparse/frame/published.h"
#include "dropin/cusparse/legacy/matrices.h"

namespace km::cusparse {

cusparseStatus_t indices_to_offsets(const Handle& handle, const int* indices, int nnz, int lines,
                                    int* offsets, cusparseIndexBase_t base);
cusparseStatus_t offsets_to_indices(const Handle& handle, const int* offsets, int nnz, int lines,
                                    int* indices, cusparseIndexBase_t base);
cusparseStatus_t fill_identity(const Handle& handle, int size, int* permutation);

/// Sorts the entries of COO by the first and then the second indices; `permutation`, which may be
/// null, goes along.
cusparseStatus_t sort_coo(const Handle& handle, const char* name, int nnz, int* first, int* second,
                          int* permutation);
/// Sorts the indices of each line; `permutation`, which may be null, goes along.
cusparseStatus_t sort_lines(const Handle& handle, const char* name, int lines, int nnz,
                            cusparseMatDescr_t settings, const int* offsets, int* indices,
                            int* permutation);

/// The arguments of Csr2cscEx2.
struct TransposeCall {
  int rows, cols, nnz;
  IntArrays csr;
  void* values;
  int* offsets;
  int* indices;
  cudaDataType type;
  cusparseAction_t action;
  cusparseIndexBase_t base;
};
cusparseStatus_t check_transpose(const TransposeCall& call);
cusparseStatus_t transpose(const Handle& handle, const TransposeCall& call);
/// The transposition of a BSR matrix's blocks, which stay as they are inside.
cusparseStatus_t transpose_blocks(const Handle& handle, const char* name, const TransposeCall& call,
                                  int row_block, int col_block);

/// The order in which csru2csr found the entries, for csr2csru.
struct EntryOrder {
  Published<std::vector<int64_t>> sorted;  // places before sorting
};
/// The object of an info of csru2csr.
struct OrderInfo {
  std::shared_ptr<EntryOrder> order;
};
/// Sorts a matrix in place, or brings it back into the order before.
cusparseStatus_t sort_csr(const Handle& handle, const SpMat& a, csru2csrInfo_t info);
cusparseStatus_t unsort_csr(const Handle& handle, const SpMat& a, csru2csrInfo_t info);

}  // namespace km::cusparse
