// Visits the entries of sparse matrices of all formats, with all indices checked.
#pragma once

#include <algorithm>
#include <vector>

#include "math/sparse/matrix.h"

namespace km::sparse {

/// The range of entries of one line.
struct LineRange {
  int64_t first = 0, last = 0;
};

/// Reads the range of line `line` of `offsets`, whose entries are `nnz`.
inline Status read_range(const Indices& offsets, int64_t line, int64_t nnz, LineRange* out) {
  *out = {offsets[line], offsets[line + 1]};
  if (out->first < 0 || out->first > out->last) [[unlikely]] {
    return bad_index_of("offset", "line", line, out->first, nnz + 1);
  }
  if (out->last > nnz) [[unlikely]] {
    return bad_index_of("offset", "line", line, out->last, nnz + 1);
  }
  return {};
}

namespace detail {

/// CSR and CSC with indices of type I: f(line, index, position).
template <class I, class F>
Status for_lines(const Matrix& m, int64_t end, int64_t first, int64_t last, F&& f) {
  const Indices offsets = m.offsets_list();
  for (int64_t line = first; line < last; ++line) {
    LineRange range;
    KM_TRY(read_range(offsets, line, m.nnz, &range));
    for (int64_t k = range.first; k < range.last; ++k) {
      const int64_t index = read_element<I>(m.indices, k) - m.base;
      if (!is_within(index, end)) [[unlikely]] {
        return bad_index_of("index", "line", line, index, end);
      }
      f(line, index, k);
    }
  }
  return {};
}

template <class F>
Status for_compressed(const Matrix& m, int64_t end, int64_t first, int64_t last, F&& f) {
  return m.has_wide_indices ? for_lines<int64_t>(m, end, first, last, f)
                            : for_lines<int32_t>(m, end, first, last, f);
}

template <class F>
Status for_coo(const Matrix& m, int64_t first, int64_t last, F&& f) {
  const Indices rows = m.offsets_list(), cols = m.indices_list();
  for (int64_t k = first; k < last; ++k) {
    const int64_t row = rows[k], col = cols[k];
    if (!is_within(row, m.rows)) {
      return bad_index_of("row index", "element", k, row, m.rows);
    }
    if (!is_within(col, m.cols)) {
      return bad_index_of("column index", "element", k, col, m.cols);
    }
    f(row, col, k);
  }
  return {};
}

/// The elements of one block at block row `line`, whose values begin at `begin` with the strides.
template <class F>
void for_block(const Matrix& m, int64_t line, int64_t block_col, int64_t begin, int64_t row_stride,
               int64_t col_stride, F&& f) {
  for (int64_t i = 0; i < m.row_block; ++i) {
    for (int64_t j = 0; j < m.col_block; ++j) {
      f(line * m.row_block + i, block_col * m.col_block + j,
        begin + i * row_stride + j * col_stride);
    }
  }
}

template <class F>
Status for_bsr(const Matrix& m, int64_t first, int64_t last, F&& f) {
  const Indices offsets = m.offsets_list(), indices = m.indices_list();
  const int64_t block = m.row_block * m.col_block, end = m.cols / m.col_block;
  const bool is_row = m.has_row_order;
  const int64_t row_stride = is_row ? m.col_block : 1, col_stride = is_row ? 1 : m.row_block;
  for (int64_t line = first; line < last; ++line) {
    LineRange range;
    KM_TRY(read_range(offsets, line, m.nnz / block, &range));
    for (int64_t k = range.first; k < range.last; ++k) {
      const int64_t index = indices[k];
      if (!is_within(index, end)) {
        return bad_index_of("block's column index", "line", line, index, end);
      }
      for_block(m, line, index, k * block, row_stride, col_stride, f);
    }
  }
  return {};
}

/// Blocks whose column is -1 are empty.
template <class F>
Status for_blocked_ell(const Matrix& m, int64_t first, int64_t last, F&& f) {
  const Indices indices = m.indices_list();
  const int64_t width = m.ell_cols / m.col_block, end = m.cols / m.col_block;
  for (int64_t line = first; line < last; ++line) {
    for (int64_t k = 0; k < width; ++k) {
      if (indices.raw(line * width + k) == -1) continue;
      const int64_t index = indices[line * width + k];
      if (!is_within(index, end)) {
        return bad_index_of("block's column index", "line", line, index, end);
      }
      const int64_t begin = line * m.row_block * m.ell_cols + k * m.col_block;
      for_block(m, line, index, begin, m.ell_cols, 1, f);
    }
  }
  return {};
}

/// Elements whose column is -1 are padding.
template <class F>
Status for_sliced_ell(const Matrix& m, int64_t first, int64_t last, F&& f) {
  const Indices offsets = m.offsets_list(), indices = m.indices_list();
  for (int64_t line = first; line < last; ++line) {
    LineRange range;
    KM_TRY(read_range(offsets, line, m.padded_size, &range));
    const int64_t first_row = line * m.row_block;
    for (int64_t k = range.first; k < range.last; ++k) {
      const int64_t row = first_row + (k - range.first) % m.row_block;
      if (row >= m.rows || indices.raw(k) == -1) continue;
      const int64_t index = indices[k];
      if (!is_within(index, m.cols)) {
        return bad_index_of("column index", "row", row, index, m.cols);
      }
      f(row, index, k);
    }
  }
  return {};
}

}  // namespace detail

/// Calls f(row, column, position of the value) for the entries of the lines from `first` to before
/// `last`. KM_ERROR_ILLEGAL_ADDRESS if an index is outside of the matrix.
template <class F>
Status for_entries(const Matrix& m, int64_t first, int64_t last, F&& f) {
  switch (m.format) {
    case Format::kCsr:
      return detail::for_compressed(m, m.cols, first, last, f);
    case Format::kCsc:
      return detail::for_compressed(m, m.rows, first, last,
                                    [&](int64_t col, int64_t row, int64_t k) { f(row, col, k); });
    case Format::kCoo:
      return detail::for_coo(m, first, last, f);
    case Format::kBsr:
      return detail::for_bsr(m, first, last, f);
    case Format::kBlockedEll:
      return detail::for_blocked_ell(m, first, last, f);
    default:
      return detail::for_sliced_ell(m, first, last, f);
  }
}
template <class F>
Status for_all_entries(const Matrix& m, F&& f) {
  return for_entries(m, 0, m.lines(), f);
}

/// The first line of a piece: lines with offsets are divided so that pieces have equal numbers of
/// lines and entries together.
int64_t first_line(const Matrix& m, uint64_t piece, uint64_t pieces);

/// Entries by row: those of row r are at rows[r] to before rows[r + 1], in the matrix's order.
struct RowLists {
  std::vector<int64_t> rows;
  std::vector<int64_t> cols, positions;
};
/// Makes the lists of a matrix, or of its transposed form.
Status make_row_lists(const Matrix& m, bool is_transposed, RowLists* out);
/// Sorts each row's entries by column; equal columns stay in order.
void sort_rows(RowLists& lists);

}  // namespace km::sparse
