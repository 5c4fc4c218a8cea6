#include "math/sparse/matrix.h"

#include <utility>

namespace km::sparse {
namespace {

int64_t ceil_of(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

/// The address `count` elements further.
const void* advanced(const void* address, int64_t count, int64_t element_bytes) {
  return address == nullptr ? nullptr : static_cast<const char*>(address) + count * element_bytes;
}

}  // namespace

int64_t Matrix::lines() const {
  switch (format) {
    case Format::kCsc:
      return cols;
    case Format::kCoo:
      return nnz;
    case Format::kCsr:
      return rows;
    default:
      return ceil_of(rows, row_block);
  }
}

int64_t Matrix::offsets_size() const {
  if (format == Format::kBlockedEll) return 0;
  return format == Format::kCoo ? nnz : lines() + 1;
}

int64_t Matrix::indices_size() const {
  if (format == Format::kBlockedEll) return checked_product(lines(), ell_cols / col_block);
  if (format == Format::kBsr) return nnz / (row_block * col_block);
  return format == Format::kSlicedEll ? padded_size : nnz;
}

int64_t Matrix::values_size() const {
  if (format == Format::kBlockedEll) return checked_product(rows, ell_cols);
  return format == Format::kSlicedEll ? padded_size : nnz;
}

Matrix Matrix::of_batch(int64_t batch) const {
  Matrix one = *this;
  one.offsets = advanced(offsets, batch * offsets_stride, has_wide_offsets ? 8 : 4);
  one.indices = advanced(indices, batch * indices_stride, has_wide_indices ? 8 : 4);
  one.values = advanced(values, batch * values_stride, bytes_of(type));
  return one;
}

Matrix Matrix::transposed() const {
  Matrix other = *this;
  std::swap(other.rows, other.cols);
  if (format == Format::kCoo) {
    std::swap(other.offsets, other.indices);
    std::swap(other.offsets_stride, other.indices_stride);
    std::swap(other.has_wide_offsets, other.has_wide_indices);
  }
  if (format == Format::kCsr) other.format = Format::kCsc;
  if (format == Format::kCsc) other.format = Format::kCsr;
  return other;
}

}  // namespace km::sparse
