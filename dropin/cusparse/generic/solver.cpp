#include "dropin/cusparse/generic/solver.h"

#include <utility>

namespace km::cusparse {
namespace {

cusparseStatus_t check_types(cudaDataType a, cudaDataType b, cudaDataType c, cudaDataType compute) {
  const bool is_sum = compute == CUDA_R_32F || compute == CUDA_R_64F || compute == CUDA_C_32F ||
                      compute == CUDA_C_64F;
  if (is_sum && a == compute && b == compute && c == compute) return CUSPARSE_STATUS_SUCCESS;
  return unsupported("no solve has operands of types %d, %d and %d and sums of type %d",
                     static_cast<int>(a), static_cast<int>(b), static_cast<int>(c),
                     static_cast<int>(compute));
}

cusparseStatus_t set_matrix(TriangularSystem& s, const SpMat& a, cusparseOperation_t operation) {
  LIB_TRY(check_operation("opA", operation));
  if (a.rows != a.cols) {
    return invalid("matA has %lld rows and %lld columns", static_cast<long long>(a.rows),
                   static_cast<long long>(a.cols));
  }
  s = system_of(a, operation);
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t check_rows(const char* name, int64_t rows, int64_t wanted) {
  if (rows == wanted) return CUSPARSE_STATUS_SUCCESS;
  return invalid("%s has %lld rows, and matA %lld", name, static_cast<long long>(rows),
                 static_cast<long long>(wanted));
}

/// The matrix of a solve as the analysis and later updates have left it.
struct Matrix {
  explicit Matrix(const Analysis& analysis)
      : lists(analysis.lists.get()),
        values(analysis.values.get()),
        diagonal(analysis.diagonal.get()) {}

  const std::shared_ptr<const RowLists> lists;
  const std::shared_ptr<const std::vector<char>> values, diagonal;
};

cu::CUresult run_solve(const TriangularSystem& s, const Analysis& analysis, int64_t first,
                       int64_t last) {
  const Matrix matrix(analysis);
  if (matrix.lists == nullptr) {
    return library::fail_work(cu::CUDA_ERROR_ILLEGAL_ADDRESS,
                              "the analysis of the matrix has not run");
  }
  sparse::TriangularSystem system = s;
  system.alpha = s.alpha_factor.address();
  if (matrix.values != nullptr) system.a.values = matrix.values->data();
  if (matrix.diagonal != nullptr) system.diagonal = matrix.diagonal->data();
  return result_of(sparse::run_solve(system, *matrix.lists, first, last));
}

}  // namespace

TriangularSystem system_of(const SpMat& a, cusparseOperation_t operation) {
  TriangularSystem s;
  s.a = a.plain();
  s.matrix = a;
  s.matrix.batch_count = 1;
  s.is_transposed = !is_plain(operation);
  s.is_conjugate = conjugates(operation);
  s.is_lower = a.fill == CUSPARSE_FILL_MODE_LOWER;
  s.is_unit = a.diagonal == CUSPARSE_DIAG_TYPE_UNIT;
  return s;
}

cusparseStatus_t prepare(const Handle& handle, const VectorSolveCall& call, bool is_complete,
                         TriangularSystem* system, Arrays* arrays) {
  TriangularSystem& s = *system;
  SpMat a;
  DnVec x, y;
  LIB_TRY(read_descriptor("matA", call.a, &a));
  LIB_TRY(read_descriptor("vecX", call.x, &x));
  LIB_TRY(read_output("vecY", call.y, &y));
  LIB_TRY(set_matrix(s, a, call.operation));
  LIB_TRY(check_rows("vecX", x.size, a.rows));
  LIB_TRY(check_rows("vecY", y.size, a.rows));
  LIB_TRY(check_types(a.type, x.type, y.type, call.compute));
  s.cols = 1;
  s.b = {x.values, number_of(x.type), 1, x.size, 0, false};
  s.c = {y.values, number_of(y.type), 1, y.size, 0, false};
  if (!is_complete) return CUSPARSE_STATUS_SUCCESS;
  add_matrix(*arrays, s.matrix, false);
  add_vector(*arrays, "vecX", x, false);
  add_vector(*arrays, "vecY", y, true);
  return s.alpha_factor.set(handle, "alpha", call.alpha, call.compute, *arrays);
}

cusparseStatus_t prepare(const Handle& handle, const MatrixSolveCall& call, bool is_complete,
                         TriangularSystem* system, Arrays* arrays) {
  TriangularSystem& s = *system;
  SpMat a;
  DnMat b, c;
  LIB_TRY(read_descriptor("matA", call.a, &a));
  LIB_TRY(read_descriptor("matB", call.b, &b));
  LIB_TRY(read_output("matC", call.c, &c));
  LIB_TRY(check_operation("opB", call.operation_b));
  LIB_TRY(set_matrix(s, a, call.operation_a));
  s.b = operand_of(b, call.operation_b);
  s.c = operand_of(c, CUSPARSE_OPERATION_NON_TRANSPOSE);
  if (!is_plain(call.operation_b)) std::swap(b.rows, b.cols);
  LIB_TRY(check_rows("op(matB)", b.rows, a.rows));
  LIB_TRY(check_rows("matC", c.rows, a.rows));
  if (b.cols != c.cols) {
    return invalid("op(matB) has %lld columns, and matC %lld", static_cast<long long>(b.cols),
                   static_cast<long long>(c.cols));
  }
  LIB_TRY(check_types(a.type, b.type, c.type, call.compute));
  s.cols = c.cols;
  if (!is_complete) return CUSPARSE_STATUS_SUCCESS;
  if (!is_plain(call.operation_b)) std::swap(b.rows, b.cols);
  add_matrix(*arrays, s.matrix, false);
  add_matrix(*arrays, "matB", b, false);
  add_matrix(*arrays, "matC", c, true);
  return s.alpha_factor.set(handle, "alpha", call.alpha, call.compute, *arrays);
}

cusparseStatus_t analyse(const Handle& handle, const char* name, const TriangularSystem& system,
                         std::shared_ptr<Analysis>* out) {
  auto analysis = std::make_shared<Analysis>();
  analysis->rows = system.a.rows, analysis->size = system.a.values_size();
  analysis->type = system.matrix.type;
  analysis->is_transposed = system.is_transposed;
  *out = analysis;
  Arrays arrays;
  add_structure(arrays, system.matrix, false);
  return submit(
      handle, arrays, name, 1, sparse::time_ns_of(system, 1), [a = system.a, analysis](uint64_t) {
        auto lists = std::make_shared<RowLists>();
        KM_TRY_RUN(result_of(sparse::make_row_lists(a, analysis->is_transposed, lists.get())));
        analysis->lists.set(std::move(lists));
        return cu::CUresult{cu::CUDA_SUCCESS};
      });
}

cusparseStatus_t check_analysis(const TriangularSystem& s, const Analysis* analysis) {
  if (analysis == nullptr) return invalid("the matrix has not been analysed");
  if (analysis->rows == s.a.rows && analysis->size == s.a.values_size() &&
      analysis->type == s.matrix.type && analysis->is_transposed == s.is_transposed) {
    return CUSPARSE_STATUS_SUCCESS;
  }
  return invalid("the analysis is of another matrix or operation");
}

cusparseStatus_t solve(const Handle& handle, const char* name, const Arrays& arrays,
                       const TriangularSystem& s, const std::shared_ptr<Analysis>& analysis) {
  LIB_TRY(check_analysis(s, analysis.get()));
  if (s.a.rows == 0 || s.cols == 0) return CUSPARSE_STATUS_SUCCESS;
  const uint64_t time_ns = sparse::time_ns_of(s, s.cols);
  const uint64_t pieces =
      std::min(pieces_of(static_cast<int64_t>(time_ns)), static_cast<uint64_t>(s.cols));
  const auto run = [s, analysis, pieces](uint64_t piece) {
    return run_solve(s, *analysis, first_of_piece(s.cols, piece, pieces),
                     first_of_piece(s.cols, piece + 1, pieces));
  };
  return submit(handle, arrays, name, pieces, time_ns, run);
}

cusparseStatus_t update_values(const Handle& handle, const char* name,
                               const std::shared_ptr<Analysis>& analysis, const void* values,
                               bool is_diagonal) {
  if (analysis == nullptr) return invalid("the matrix has not been analysed");
  const int64_t count = is_diagonal ? analysis->rows : analysis->size;
  const uint32_t bytes = bytes_of(analysis->type);
  Arrays arrays;
  arrays.read("newValues", values, count, bytes);
  const auto copy = [analysis, values, is_diagonal, size = count * bytes](uint64_t) {
    const auto* const from = static_cast<const char*>(values);
    (is_diagonal ? analysis->diagonal : analysis->values)
        .set(std::make_shared<const std::vector<char>>(from, from + size));
    if (!is_diagonal) analysis->diagonal.set(nullptr);
    return cu::CUresult{cu::CUDA_SUCCESS};
  };
  return submit(handle, arrays, name, 1, static_cast<uint64_t>(count), copy);
}

}  // namespace km::cusparse
