#include "dropin/cusparse/matrix/descriptors.h"

#include <utility>

#include "dropin/cusparse/matrix/indices.h"

namespace km::cusparse {
namespace {

int64_t ceil_of(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

/// The number of elements from the first matrix of a batch to the end of the last one.
int64_t batch_extent(int64_t one, int64_t stride, int64_t count) {
  if (one == 0 || count <= 1 || stride == 0) return one;
  const int64_t before = checked_product(stride, count - 1);
  return before > INT64_MAX - one ? INT64_MAX : before + one;
}

/// The address `count` elements further.
void* advanced(void* address, int64_t count, int64_t element_bytes) {
  return address == nullptr ? nullptr : static_cast<char*>(address) + count * element_bytes;
}

}  // namespace

int64_t SpMat::lines() const {
  switch (format) {
    case CUSPARSE_FORMAT_CSC:
      return cols;
    case CUSPARSE_FORMAT_COO:
      return nnz;
    case CUSPARSE_FORMAT_CSR:
      return rows;
    default:
      return ceil_of(rows, row_block);
  }
}

int64_t SpMat::offsets_size() const {
  if (format == CUSPARSE_FORMAT_BLOCKED_ELL) return 0;
  return format == CUSPARSE_FORMAT_COO ? nnz : lines() + 1;
}

int64_t SpMat::indices_size() const {
  if (format == CUSPARSE_FORMAT_BLOCKED_ELL) return checked_product(lines(), ell_cols / col_block);
  if (format == CUSPARSE_FORMAT_BSR) return nnz / (row_block * col_block);
  return format == CUSPARSE_FORMAT_SLICED_ELLPACK ? padded_size : nnz;
}

int64_t SpMat::values_size() const {
  if (format == CUSPARSE_FORMAT_BLOCKED_ELL) return checked_product(rows, ell_cols);
  return format == CUSPARSE_FORMAT_SLICED_ELLPACK ? padded_size : nnz;
}

SpMat SpMat::of_batch(int64_t batch) const {
  SpMat one = *this;
  one.offsets = advanced(offsets, batch * offsets_stride, bytes_of_index(offsets_type));
  one.indices = advanced(indices, batch * indices_stride, bytes_of_index(indices_type));
  one.values = advanced(values, batch * values_stride, bytes_of(type));
  return one;
}

SpMat SpMat::transposed() const {
  SpMat other = *this;
  std::swap(other.rows, other.cols);
  if (format == CUSPARSE_FORMAT_COO) std::swap(other.offsets, other.indices);
  if (format == CUSPARSE_FORMAT_CSR) other.format = CUSPARSE_FORMAT_CSC;
  if (format == CUSPARSE_FORMAT_CSC) other.format = CUSPARSE_FORMAT_CSR;
  return other;
}

int64_t DnMat::extent() const {
  if (rows == 0 || cols == 0) return 0;
  const bool is_row = order == CUSPARSE_ORDER_ROW;
  const int64_t before = checked_product(ld, (is_row ? rows : cols) - 1);
  return before + (is_row ? cols : rows);
}

void add_structure(Arrays& arrays, const SpMat& m, bool is_written) {
  const auto add = [&](const char* name, void* address, int64_t size, int64_t stride,
                       cusparseIndexType_t type) {
    const int64_t count = batch_extent(size, stride, m.batch_count);
    if (is_written) {
      arrays.written(name, address, count, bytes_of_index(type));
    } else {
      arrays.read(name, address, count, bytes_of_index(type));
    }
  };
  const bool is_coo = m.format == CUSPARSE_FORMAT_COO;
  add(is_coo ? "the matrix's row indices" : "the matrix's offsets", m.offsets, m.offsets_size(),
      m.offsets_stride, m.offsets_type);
  add("the matrix's indices", m.indices, m.indices_size(), m.indices_stride, m.indices_type);
}

void add_matrix(Arrays& arrays, const SpMat& m, bool is_written) {
  add_structure(arrays, m, false);
  const int64_t count = batch_extent(m.values_size(), m.values_stride, m.batch_count);
  if (is_written) {
    arrays.written("the matrix's values", m.values, count, bytes_of(m.type));
  } else {
    arrays.read("the matrix's values", m.values, count, bytes_of(m.type));
  }
}

void add_matrix(Arrays& arrays, const char* name, const DnMat& m, bool is_written) {
  const int64_t count = batch_extent(m.extent(), m.batch_stride, m.batch_count);
  if (is_written) {
    arrays.written(name, m.values, count, bytes_of(m.type));
  } else {
    arrays.read(name, m.values, count, bytes_of(m.type));
  }
}

void add_vector(Arrays& arrays, const char* name, const DnVec& v, bool is_written) {
  if (is_written) {
    arrays.written(name, v.values, v.size, bytes_of(v.type));
  } else {
    arrays.read(name, v.values, v.size, bytes_of(v.type));
  }
}

void add_vector(Arrays& arrays, const SpVec& v, bool is_written) {
  arrays.read("the sparse vector's indices", v.indices, v.nnz, bytes_of_index(v.indices_type));
  if (is_written) {
    arrays.written("the sparse vector's values", v.values, v.nnz, bytes_of(v.type));
  } else {
    arrays.read("the sparse vector's values", v.values, v.nnz, bytes_of(v.type));
  }
}

}  // namespace km::cusparse
