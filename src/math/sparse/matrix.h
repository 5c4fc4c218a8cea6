// Sparse matrices of several formats, as loops read them.
#pragma once

#include "math/sparse/indices.h"

namespace km::sparse {

enum class Format : uint8_t {
  kCsr,         // entries row by row
  kCsc,         // entries column by column
  kCoo,         // entries with their rows and columns
  kBsr,         // like kCsr, of blocks
  kBlockedEll,  // rows of equally many blocks
  kSlicedEll,   // slices of rows with padding
};

/// A sparse matrix. kBsr and the ELL formats have sizes of blocks; rows, columns and nnz count
/// elements in all formats.
struct Matrix {
  Format format = Format::kCsr;
  Number type = Number::kF32;
  bool has_wide_offsets = false, has_wide_indices = false;  // 64 bits each, otherwise 32
  bool has_row_order = true;                                // of elements in a block of kBsr
  int64_t base = 0;                                         // of offsets and indices: 0 or 1
  int64_t rows = 0, cols = 0, nnz = 0;
  int64_t row_block = 1, col_block = 1;  // kSlicedEll: row_block is the size of a slice
  int64_t ell_cols = 0;                  // kBlockedEll
  int64_t padded_size = 0;               // kSlicedEll: elements with padding
  const void* offsets = nullptr;         // kCoo: row indices; kBlockedEll: none
  const void* indices = nullptr;
  const void* values = nullptr;
  int64_t offsets_stride = 0, indices_stride = 0, values_stride = 0;  // of a batch, in elements

  /// The number of lines that entries are visited by: rows or columns, blocks of rows, slices;
  /// with kCoo, elements.
  int64_t lines() const;
  /// The number of elements of `offsets`, `indices` and `values` in one matrix of the batch.
  int64_t offsets_size() const;
  int64_t indices_size() const;
  int64_t values_size() const;
  /// True if each line has rows of its own.
  bool has_row_lines() const { return format != Format::kCsc && format != Format::kCoo; }
  /// One matrix of the batch.
  Matrix of_batch(int64_t batch) const;
  /// True for the formats whose transposed form another plain one is.
  bool has_transposed_form() const {
    return format == Format::kCsr || format == Format::kCsc || format == Format::kCoo;
  }
  /// The transposed matrix, for these formats.
  Matrix transposed() const;

  Indices offsets_list() const { return {offsets, has_wide_offsets, base}; }
  Indices indices_list() const { return {indices, has_wide_indices, base}; }
};

}  // namespace km::sparse
