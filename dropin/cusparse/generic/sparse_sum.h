// Sums of two sparse matrices: csrgeam2 and SpGEAM.
#pragma once

#include "dropin/cusparse/matrix/entries.h"

namespace km::cusparse {

/// C = alpha * op(A) + beta * op(B), where all matrices are CSR.
struct SparseSum {
  SpMat a, b, c;
  bool is_a_transposed = false, is_a_conjugate = false;
  bool is_b_transposed = false, is_b_conjugate = false;
  cudaDataType compute = CUDA_R_32F;
  Scalar alpha, beta;
};

/// Checks the sizes and types.
cusparseStatus_t check_sum(const SparseSum& sum);
/// Lists the operands, with values if the sum is computed.
void add_operands(Arrays& arrays, const SparseSum& sum, bool has_values);
/// Writes the offsets of C and counts its entries: the union of those of A and B.
cu::CUresult count_sum(const SparseSum& sum, int64_t* total);
/// Writes C, of which no more than c.nnz entries.
cu::CUresult write_sum(const SparseSum& sum);

}  // namespace km::cusparse
