// Incomplete factorisations (csrilu02, csric02, bsrilu02, bsric02) and the solves with BSR matrices
// (bsrsv2, bsrsm2). Blocks are treated as what they consist of.
#pragma once

#include <atomic>

#include "dropin/cusparse/generic/solver.h"
#include "dropin/cusparse/legacy/dense_times_sparse.h"

namespace km::cusparse {

/// The functions that have infos of their own.
enum class InfoKind { kCsrIlu, kCsrIc, kBsrIlu, kBsrIc, kBsrSolve, kBsrSolveMany };

/// The first rows whose pivots are zero or missing; -1 if there are none. Work of the stream
/// writes them.
struct Pivots {
  std::atomic<int64_t> structural{-1}, numerical{-1};
};

/// The object of an info.
struct FactorInfo {
  InfoKind kind = InfoKind::kCsrIlu;
  int64_t block = 1;
  cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
  std::shared_ptr<Pivots> pivots = std::make_shared<Pivots>();
  std::shared_ptr<Analysis> analysis;  // of the solves
  bool has_boost = false;
  Scalar boost_limit, boost_value;
};

/// Copies the object of an info of the kind.
cusparseStatus_t read_info(InfoKind kind, const void* id, FactorInfo* out);

/// Looks for missing pivots.
cusparseStatus_t analyse_factor(const Handle& handle, InfoKind kind, const void* info,
                                const SpMat& a);
/// Replaces the matrix's values by those of its factors.
cusparseStatus_t factorise(const Handle& handle, InfoKind kind, const void* info, const SpMat& a);
/// Sets the number that takes the place of small pivots.
cusparseStatus_t set_boost(const Handle& handle, InfoKind kind, const void* info, bool has_boost,
                           const double* limit, const void* value, cudaDataType type);
/// Waits for the stream and gives the first bad pivot's row, or -1.
/// CUSPARSE_STATUS_ZERO_PIVOT if there is one.
cusparseStatus_t give_pivot(const Handle& handle, InfoKind kind, const void* info, int* position);

/// The dense operands of bsrsm2 and bsrsv2, by columns.
struct BsrSolveCall {
  cusparseOperation_t operation_a, operation_x;
  int cols;
  const void* alpha;
  const void* b;
  int ldb;
  void* x;
  int ldx;
};
cusparseStatus_t analyse_bsr(const Handle& handle, InfoKind kind, const void* info, const SpMat& a,
                             cusparseOperation_t operation);
cusparseStatus_t solve_bsr(const Handle& handle, InfoKind kind, const void* info, const SpMat& a,
                           const BsrSolveCall& call);

}  // namespace km::cusparse
