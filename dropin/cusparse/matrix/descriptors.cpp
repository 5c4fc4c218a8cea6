#include "dropin/cusparse/matrix/descriptors.h"

#include "dropin/cusparse/matrix/indices.h"

namespace km::cusparse {
namespace {

sparse::Format plain_format(cusparseFormat_t format) {
  switch (format) {
    case CUSPARSE_FORMAT_CSC:
      return sparse::Format::kCsc;
    case CUSPARSE_FORMAT_COO:
      return sparse::Format::kCoo;
    case CUSPARSE_FORMAT_BSR:
      return sparse::Format::kBsr;
    case CUSPARSE_FORMAT_BLOCKED_ELL:
      return sparse::Format::kBlockedEll;
    case CUSPARSE_FORMAT_SLICED_ELLPACK:
      return sparse::Format::kSlicedEll;
    default:
      return sparse::Format::kCsr;
  }
}

/// The number of elements from the first matrix of a batch to the end of the last one.
int64_t batch_extent(int64_t one, int64_t stride, int64_t count) {
  if (one == 0 || count <= 1 || stride == 0) return one;
  const int64_t before = checked_product(stride, count - 1);
  return before > INT64_MAX - one ? INT64_MAX : before + one;
}

}  // namespace

sparse::Matrix SpMat::plain() const {
  sparse::Matrix m;
  m.format = plain_format(format);
  m.type = number_of(type);
  m.has_wide_offsets = is_wide(offsets_type), m.has_wide_indices = is_wide(indices_type);
  m.has_row_order = order == CUSPARSE_ORDER_ROW;
  m.base = base;
  m.rows = rows, m.cols = cols, m.nnz = nnz;
  m.row_block = row_block, m.col_block = col_block;
  m.ell_cols = ell_cols, m.padded_size = padded_size;
  m.offsets = offsets, m.indices = indices, m.values = values;
  m.offsets_stride = offsets_stride, m.indices_stride = indices_stride;
  m.values_stride = values_stride;
  return m;
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
