// Triangular solves: SpSV, and SpSM for several right-hand sides.
#pragma once

#include "dropin/cusparse/frame/published.h"
#include "dropin/cusparse/generic/product.h"
#include "dropin/cusparse/matrix/entries.h"
#include "math/sparse/solver.h"

namespace km::cusparse {

/// The result of an analysis. Work of the stream fills it in, and later work reads it.
struct Analysis {
  int64_t rows = 0, size = 0;  // size: of the values
  cudaDataType type = CUDA_R_32F;
  bool is_transposed = false;
  Published<RowLists> lists;
  Published<std::vector<char>> values;    // from SpSV_updateMatrix; null: the matrix's
  Published<std::vector<char>> diagonal;  // likewise
};

/// The object of a descriptor; `kIsMatrix` separates those of SpSM from those of SpSV.
template <bool kIsMatrix>
struct SolverObject {
  std::shared_ptr<Analysis> analysis;
};
using VectorSolver = SolverObject<false>;
using MatrixSolver = SolverObject<true>;

/// A triangular system whose factor may be in device memory.
struct TriangularSystem : sparse::TriangularSystem {
  SpMat matrix;      // the descriptor of `a`
  int64_t cols = 0;  // of B and C
  Scalar alpha_factor;
};

/// The system of a solve without its dense operands.
TriangularSystem system_of(const SpMat& a, cusparseOperation_t operation);

/// The arguments of SpSV and SpSM.
struct VectorSolveCall {
  cusparseOperation_t operation;
  const void* alpha;
  cusparseConstSpMatDescr_t a;
  cusparseConstDnVecDescr_t x;
  cusparseDnVecDescr_t y;
  cudaDataType compute;
};
struct MatrixSolveCall {
  cusparseOperation_t operation_a, operation_b;
  const void* alpha;
  cusparseConstSpMatDescr_t a;
  cusparseConstDnMatDescr_t b;
  cusparseDnMatDescr_t c;
  cudaDataType compute;
};

/// Checks the call; with scalars and arrays only if `is_complete`.
cusparseStatus_t prepare(const Handle& handle, const VectorSolveCall& call, bool is_complete,
                         TriangularSystem* system, Arrays* arrays);
cusparseStatus_t prepare(const Handle& handle, const MatrixSolveCall& call, bool is_complete,
                         TriangularSystem* system, Arrays* arrays);

/// Queues the analysis of the system's matrix.
cusparseStatus_t analyse(const Handle& handle, const char* name, const TriangularSystem& system,
                         std::shared_ptr<Analysis>* out);
/// CUSPARSE_STATUS_INVALID_VALUE if the analysis is null or of another matrix.
cusparseStatus_t check_analysis(const TriangularSystem& system, const Analysis* analysis);
/// Queues the solve. CUSPARSE_STATUS_INVALID_VALUE if the analysis is of another matrix.
cusparseStatus_t solve(const Handle& handle, const char* name, const Arrays& arrays,
                       const TriangularSystem& system, const std::shared_ptr<Analysis>& analysis);
/// Queues a copy of new values, or of a new diagonal, for later solves.
cusparseStatus_t update_values(const Handle& handle, const char* name,
                               const std::shared_ptr<Analysis>& analysis, const void* values,
                               bool is_diagonal);

}  // namespace km::cusparse
