// Conversions between CSR and BSR, and between blocks of two sizes.
#pragma once

#include "dropin/cusparse/legacy/matrices.h"

namespace km::cusparse {

/// A matrix with blocks that a conversion makes; `direction` is the order inside blocks.
struct BlockTarget {
  cusparseDirection_t direction;
  cusparseMatDescr_t settings;
  void* values;
  int* offsets;
  int* indices;
  int row_block, col_block;
};

/// Counts the blocks and writes the offsets of their rows.
cusparseStatus_t count_blocks(const Handle& handle, const char* name, const SpMat& a,
                              const BlockTarget& target, int* total);
/// Writes the matrix as blocks: offsets, sorted indices and values. Positions inside blocks without
/// an entry are zero.
cusparseStatus_t make_blocks(const Handle& handle, const char* name, const SpMat& a,
                             const BlockTarget& target);
/// Writes a matrix with blocks as CSR; all elements of blocks become entries.
cusparseStatus_t make_csr(const Handle& handle, const char* name, const SpMat& a,
                          const BlockTarget& target);

/// Sets the number of entries of a matrix whose arrays are as long as their allocations allow.
cusparseStatus_t set_capacity(const Handle& handle, SpMat& a);

}  // namespace km::cusparse
