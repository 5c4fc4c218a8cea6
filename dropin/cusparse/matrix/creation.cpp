#include "dropin/cusparse/matrix/creation.h"

namespace km::cusparse {
namespace {

// Sizes are so small that the sums and products of a few of them fit into 64 bits.
constexpr int64_t kMostSize = int64_t{1} << 58;

bool is_size(int64_t value) { return value >= 0 && value < kMostSize; }

cusparseStatus_t check_index_type(cusparseIndexType_t type) {
  if (type == CUSPARSE_INDEX_32I || type == CUSPARSE_INDEX_64I) return CUSPARSE_STATUS_SUCCESS;
  if (type == CUSPARSE_INDEX_16U) return unsupported("indices have 32 or 64 bits");
  return invalid("the type of indices is %d", static_cast<int>(type));
}

cusparseStatus_t check_base(cusparseIndexBase_t base) {
  if (base == CUSPARSE_INDEX_BASE_ZERO || base == CUSPARSE_INDEX_BASE_ONE) {
    return CUSPARSE_STATUS_SUCCESS;
  }
  return invalid("the base of indices is %d", static_cast<int>(base));
}

cusparseStatus_t check_type(cudaDataType type) {
  if (bytes_of(type) != 0) return CUSPARSE_STATUS_SUCCESS;
  return invalid("no elements have type %d", static_cast<int>(type));
}

cusparseStatus_t check_order(cusparseOrder_t order) {
  if (order == CUSPARSE_ORDER_COL || order == CUSPARSE_ORDER_ROW) return CUSPARSE_STATUS_SUCCESS;
  return invalid("the order is %d", static_cast<int>(order));
}

cusparseStatus_t check_blocks(const SpMat& m) {
  if (m.row_block <= 0 || m.col_block <= 0 || m.row_block > INT32_MAX || m.col_block > INT32_MAX) {
    return invalid("blocks of %lld x %lld", static_cast<long long>(m.row_block),
                   static_cast<long long>(m.col_block));
  }
  if (m.format != CUSPARSE_FORMAT_BLOCKED_ELL) return CUSPARSE_STATUS_SUCCESS;
  const bool is_whole = is_size(m.ell_cols) && m.rows % m.row_block == 0 &&
                        m.cols % m.col_block == 0 && m.ell_cols % m.col_block == 0;
  if (is_whole && m.ell_cols <= m.cols) return CUSPARSE_STATUS_SUCCESS;
  return invalid(
      "a matrix of %lld x %lld with ellCols %lld is not a whole number of blocks of %lld",
      static_cast<long long>(m.rows), static_cast<long long>(m.cols),
      static_cast<long long>(m.ell_cols), static_cast<long long>(m.row_block));
}

}  // namespace

void set_arrays(SpMat& m, const MatrixArrays& arrays, const MatrixTypes& types) {
  m.offsets = const_cast<void*>(arrays.offsets);
  m.indices = const_cast<void*>(arrays.indices);
  m.values = const_cast<void*>(arrays.values);
  m.offsets_type = types.offsets, m.indices_type = types.indices;
  m.base = types.base;
  m.type = types.values;
}

cusparseStatus_t check_matrix(const SpMat& m) {
  if (!is_size(m.rows) || !is_size(m.cols) || !is_size(m.nnz) || !is_size(m.padded_size)) {
    return invalid("a matrix of %lld x %lld with %lld elements", static_cast<long long>(m.rows),
                   static_cast<long long>(m.cols), static_cast<long long>(m.nnz));
  }
  LIB_TRY(check_blocks(m));
  if (m.format == CUSPARSE_FORMAT_SLICED_ELLPACK && m.nnz > m.padded_size) {
    return invalid("%lld elements and %lld with padding", static_cast<long long>(m.nnz),
                   static_cast<long long>(m.padded_size));
  }
  LIB_TRY(check_order(m.order));
  LIB_TRY(check_index_type(m.offsets_type));
  LIB_TRY(check_index_type(m.indices_type));
  LIB_TRY(check_base(m.base));
  return check_type(m.type);
}

cusparseStatus_t check_dense(const DnMat& m) {
  if (!is_size(m.rows) || !is_size(m.cols) || !is_size(m.ld)) {
    return invalid("a matrix of %lld x %lld with ld %lld", static_cast<long long>(m.rows),
                   static_cast<long long>(m.cols), static_cast<long long>(m.ld));
  }
  LIB_TRY(check_order(m.order));
  if (m.ld < (m.order == CUSPARSE_ORDER_ROW ? m.cols : m.rows)) {
    return invalid("ld is %lld, less than a line's elements", static_cast<long long>(m.ld));
  }
  return check_type(m.type);
}

cusparseStatus_t check_dense_vector(const DnVec& v) {
  if (!is_size(v.size)) return invalid("size is %lld", static_cast<long long>(v.size));
  return check_type(v.type);
}

cusparseStatus_t check_sparse_vector(const SpVec& v) {
  if (!is_size(v.size) || !is_size(v.nnz) || v.nnz > v.size) {
    return invalid("%lld elements of %lld", static_cast<long long>(v.nnz),
                   static_cast<long long>(v.size));
  }
  LIB_TRY(check_index_type(v.indices_type));
  LIB_TRY(check_base(v.base));
  return check_type(v.type);
}

cusparseStatus_t give_matrix(cusparseConstSpMatDescr_t id, cusparseFormat_t format,
                             bool wants_variable, const MatrixPlaces& places) {
  SpMat m;
  LIB_TRY(wants_variable ? read_output("spMatDescr", id, &m)
                         : read_descriptor("spMatDescr", id, &m));
  if (m.format != format) return invalid("the matrix has format %d", static_cast<int>(m.format));
  LIB_TRY(give("rows", places.rows, m.rows));
  LIB_TRY(give("cols", places.cols, m.cols));
  LIB_TRY(give("nnz", places.nnz, m.nnz));
  LIB_TRY(give<const void*>("the place for offsets", places.offsets, m.offsets));
  LIB_TRY(give<const void*>("the place for indices", places.indices, m.indices));
  LIB_TRY(give<const void*>("the place for values", places.values, m.values));
  LIB_TRY(give("the place for the offsets' type", places.offsets_type, m.offsets_type));
  LIB_TRY(give("the place for the indices' type", places.indices_type, m.indices_type));
  LIB_TRY(give("idxBase", places.base, m.base));
  return give("valueType", places.type, m.type);
}

cusparseStatus_t set_pointers(cusparseSpMatDescr_t id, cusparseFormat_t format, void* offsets,
                              void* indices, void* values) {
  return change_descriptor<SpMat>("spMatDescr", id, [&](SpMat& m) -> cusparseStatus_t {
    if (m.is_const) return invalid("the matrix is constant");
    if (m.format != format) return invalid("the matrix has format %d", static_cast<int>(m.format));
    m.offsets = offsets, m.indices = indices, m.values = values;
    return CUSPARSE_STATUS_SUCCESS;
  });
}

}  // namespace km::cusparse
