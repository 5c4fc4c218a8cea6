// Visits the entries of sparse matrices of all formats, with all indices checked.
#pragma once

#include <algorithm>
#include <vector>

#include "dropin/cusparse/matrix/descriptors.h"
#include "dropin/cusparse/matrix/indices.h"

namespace km::cusparse {

/// The range of entries of one line.
struct LineRange {
  int64_t first = 0, last = 0;
};

/// Reads the range of line `line` of `offsets`, whose entries are `nnz`.
inline cu::CUresult read_range(const Indices& offsets, int64_t line, int64_t nnz, LineRange* out) {
  *out = {offsets[line], offsets[line + 1]};
  if (out->first < 0 || out->first > out->last) return bad_index("offset", out->first, nnz + 1);
  if (out->last > nnz) return bad_index("offset", out->last, nnz + 1);
  return cu::CUDA_SUCCESS;
}

inline Indices offsets_of(const SpMat& m) { return {m.offsets, m.offsets_type, m.base}; }
inline Indices indices_of(const SpMat& m) { return {m.indices, m.indices_type, m.base}; }

#define KM_TRY_RUN(expression)                                                                   \
  do {                                                                                           \
    if (const cu::CUresult km_result = (expression); km_result != cu::CUDA_SUCCESS) [[unlikely]] \
      return km_result;                                                                          \
  } while (0)

namespace detail {

/// CSR and CSC with indices of type I: f(line, index, position).
template <class I, class F>
cu::CUresult for_lines(const SpMat& m, int64_t end, int64_t first, int64_t last, F&& f) {
  const Indices offsets = offsets_of(m);
  for (int64_t line = first; line < last; ++line) {
    LineRange range;
    KM_TRY_RUN(read_range(offsets, line, m.nnz, &range));
    for (int64_t k = range.first; k < range.last; ++k) {
      const int64_t index = read_element<I>(m.indices, k) - m.base;
      if (!is_within(index, end)) return bad_index("index", index, end);
      f(line, index, k);
    }
  }
  return cu::CUDA_SUCCESS;
}

template <class F>
cu::CUresult for_compressed(const SpMat& m, int64_t end, int64_t first, int64_t last, F&& f) {
  return m.indices_type == CUSPARSE_INDEX_64I ? for_lines<int64_t>(m, end, first, last, f)
                                              : for_lines<int32_t>(m, end, first, last, f);
}

template <class F>
cu::CUresult for_coo(const SpMat& m, int64_t first, int64_t last, F&& f) {
  const Indices rows = offsets_of(m), cols = indices_of(m);
  for (int64_t k = first; k < last; ++k) {
    const int64_t row = rows[k], col = cols[k];
    if (!is_within(row, m.rows)) return bad_index("row index", row, m.rows);
    if (!is_within(col, m.cols)) return bad_index("column index", col, m.cols);
    f(row, col, k);
  }
  return cu::CUDA_SUCCESS;
}

/// The elements of one block at block row `line`, whose values begin at `begin` with the strides.
template <class F>
void for_block(const SpMat& m, int64_t line, int64_t block_col, int64_t begin, int64_t row_stride,
               int64_t col_stride, F&& f) {
  for (int64_t i = 0; i < m.row_block; ++i) {
    for (int64_t j = 0; j < m.col_block; ++j) {
      f(line * m.row_block + i, block_col * m.col_block + j,
        begin + i * row_stride + j * col_stride);
    }
  }
}

template <class F>
cu::CUresult for_bsr(const SpMat& m, int64_t first, int64_t last, F&& f) {
  const Indices offsets = offsets_of(m), indices = indices_of(m);
  const int64_t block = m.row_block * m.col_block, end = m.cols / m.col_block;
  const bool is_row = m.order == CUSPARSE_ORDER_ROW;
  const int64_t row_stride = is_row ? m.col_block : 1, col_stride = is_row ? 1 : m.row_block;
  for (int64_t line = first; line < last; ++line) {
    LineRange range;
    KM_TRY_RUN(read_range(offsets, line, m.nnz / block, &range));
    for (int64_t k = range.first; k < range.last; ++k) {
      const int64_t index = indices[k];
      if (!is_within(index, end)) return bad_index("block's column index", index, end);
      for_block(m, line, index, k * block, row_stride, col_stride, f);
    }
  }
  return cu::CUDA_SUCCESS;
}

/// Blocks whose column is -1 are empty.
template <class F>
cu::CUresult for_blocked_ell(const SpMat& m, int64_t first, int64_t last, F&& f) {
  const Indices indices = indices_of(m);
  const int64_t width = m.ell_cols / m.col_block, end = m.cols / m.col_block;
  for (int64_t line = first; line < last; ++line) {
    for (int64_t k = 0; k < width; ++k) {
      if (indices.raw(line * width + k) == -1) continue;
      const int64_t index = indices[line * width + k];
      if (!is_within(index, end)) return bad_index("block's column index", index, end);
      const int64_t begin = line * m.row_block * m.ell_cols + k * m.col_block;
      for_block(m, line, index, begin, m.ell_cols, 1, f);
    }
  }
  return cu::CUDA_SUCCESS;
}

/// Elements whose column is -1 are padding.
template <class F>
cu::CUresult for_sliced_ell(const SpMat& m, int64_t first, int64_t last, F&& f) {
  const Indices offsets = offsets_of(m), indices = indices_of(m);
  for (int64_t line = first; line < last; ++line) {
    LineRange range;
    KM_TRY_RUN(read_range(offsets, line, m.padded_size, &range));
    const int64_t first_row = line * m.row_block;
    for (int64_t k = range.first; k < range.last; ++k) {
      const int64_t row = first_row + (k - range.first) % m.row_block;
      if (row >= m.rows || indices.raw(k) == -1) continue;
      const int64_t index = indices[k];
      if (!is_within(index, m.cols)) return bad_index("column index", index, m.cols);
      f(row, index, k);
    }
  }
  return cu::CUDA_SUCCESS;
}

}  // namespace detail

/// Calls f(row, column, position of the value) for the entries of the lines from `first` to before
/// `last`. CUDA_ERROR_ILLEGAL_ADDRESS if an index is outside of the matrix.
template <class F>
cu::CUresult for_entries(const SpMat& m, int64_t first, int64_t last, F&& f) {
  switch (m.format) {
    case CUSPARSE_FORMAT_CSR:
      return detail::for_compressed(m, m.cols, first, last, f);
    case CUSPARSE_FORMAT_CSC:
      return detail::for_compressed(m, m.rows, first, last,
                                    [&](int64_t col, int64_t row, int64_t k) { f(row, col, k); });
    case CUSPARSE_FORMAT_COO:
      return detail::for_coo(m, first, last, f);
    case CUSPARSE_FORMAT_BSR:
      return detail::for_bsr(m, first, last, f);
    case CUSPARSE_FORMAT_BLOCKED_ELL:
      return detail::for_blocked_ell(m, first, last, f);
    default:
      return detail::for_sliced_ell(m, first, last, f);
  }
}
template <class F>
cu::CUresult for_all_entries(const SpMat& m, F&& f) {
  return for_entries(m, 0, m.lines(), f);
}

/// The first line of a piece: lines with offsets are divided so that pieces have equal numbers of
/// lines and entries together.
int64_t first_line(const SpMat& m, uint64_t piece, uint64_t pieces);

/// Entries by row: those of row r are at rows[r] to before rows[r + 1], in the matrix's order.
struct RowLists {
  std::vector<int64_t> rows;
  std::vector<int64_t> cols, positions;
};
/// Makes the lists of a matrix, or of its transposed form.
cu::CUresult make_row_lists(const SpMat& m, bool is_transposed, RowLists* out);
/// Sorts each row's entries by column; equal columns stay in order.
void sort_rows(RowLists& lists);

}  // namespace km::cusparse
