// Visits the entries of matrices in device memory.
#pragma once

#include "dropin/cusparse/matrix/descriptors.h"
#include "dropin/cusparse/matrix/indices.h"
#include "math/sparse/entries.h"

namespace km::cusparse {

using sparse::LineRange;
using sparse::RowLists;
using sparse::sort_rows;

/// Reads the range of line `line` of `offsets`, whose entries are `nnz`.
inline cu::CUresult read_range(const Indices& offsets, int64_t line, int64_t nnz, LineRange* out) {
  return result_of(sparse::read_range(offsets, line, nnz, out));
}

inline Indices offsets_of(const SpMat& m) { return {m.offsets, m.offsets_type, m.base}; }
inline Indices indices_of(const SpMat& m) { return {m.indices, m.indices_type, m.base}; }

#define KM_TRY_RUN(expression)                                                                   \
  do {                                                                                           \
    if (const cu::CUresult km_result = (expression); km_result != cu::CUDA_SUCCESS) [[unlikely]] \
      return km_result;                                                                          \
  } while (0)

/// Calls f(row, column, position of the value) for the entries of the lines from `first` to before
/// `last`. CUDA_ERROR_ILLEGAL_ADDRESS if an index is outside of the matrix.
template <class F>
cu::CUresult for_entries(const SpMat& m, int64_t first, int64_t last, F&& f) {
  return result_of(sparse::for_entries(m.plain(), first, last, f));
}
template <class F>
cu::CUresult for_all_entries(const SpMat& m, F&& f) {
  return for_entries(m, 0, m.lines(), f);
}

/// The first line of a piece: lines with offsets are divided so that pieces have equal numbers of
/// lines and entries together.
inline int64_t first_line(const SpMat& m, uint64_t piece, uint64_t pieces) {
  return sparse::first_line(m.plain(), piece, pieces);
}

/// Makes the lists of a matrix, or of its transposed form.
inline cu::CUresult make_row_lists(const SpMat& m, bool is_transposed, RowLists* out) {
  return result_of(sparse::make_row_lists(m.plain(), is_transposed, out));
}

}  // namespace km::cusparse
