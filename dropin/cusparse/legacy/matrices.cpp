#include "dropin/cusparse/legacy/matrices.h"

namespace km::cusparse {

cusparseStatus_t check_sizes(std::initializer_list<int> sizes) {
  for (const int size : sizes) {
    if (size < 0) return invalid("a size is %d", size);
  }
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t check_direction(cusparseDirection_t direction) {
  if (direction == CUSPARSE_DIRECTION_ROW || direction == CUSPARSE_DIRECTION_COLUMN) {
    return CUSPARSE_STATUS_SUCCESS;
  }
  return invalid("the direction is %d", static_cast<int>(direction));
}

cusparseStatus_t read_settings(const char* name, cusparseMatDescr_t id, MatDescr* out) {
  return read_descriptor(name, id, out);
}

SpMat csr_of(int rows, int cols, int64_t nnz, const MatDescr& settings, cudaDataType type,
             const IntArrays& arrays) {
  SpMat m;
  m.rows = rows, m.cols = cols, m.nnz = nnz;
  m.offsets = const_cast<int*>(arrays.offsets);
  m.indices = const_cast<int*>(arrays.indices);
  m.values = const_cast<void*>(arrays.values);
  m.base = settings.base, m.fill = settings.fill, m.diagonal = settings.diagonal;
  m.type = type;
  return m;
}

SpMat bsr_of(cusparseDirection_t direction, int rows, int cols, int64_t block_count,
             const MatDescr& settings, cudaDataType type, const IntArrays& arrays, int row_block,
             int col_block) {
  SpMat m = csr_of(rows, cols, block_count, settings, type, arrays);
  m.format = CUSPARSE_FORMAT_BSR;
  m.row_block = row_block, m.col_block = col_block;
  m.rows *= row_block, m.cols *= col_block;
  m.nnz = checked_product(block_count, int64_t{row_block} * col_block);
  m.order = direction == CUSPARSE_DIRECTION_ROW ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL;
  return m;
}

cusparseStatus_t find_capacity(const Handle& handle, const char* name, const void* address,
                               uint64_t element_bytes, int64_t* count) {
  *count = 0;
  if (address == nullptr) return CUSPARSE_STATUS_SUCCESS;
  const auto at = reinterpret_cast<uint64_t>(address);
  cu::CUdeviceptr begin = 0;
  size_t size_bytes = 0;
  if (handle.driver->cuMemGetAddressRange_v2(&begin, &size_bytes, at) != cu::CUDA_SUCCESS) {
    return invalid("%s is %p, which is in no allocation", name, address);
  }
  *count = static_cast<int64_t>((begin + size_bytes - at) / element_bytes);
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t find_capacity(const Handle& handle, const IntArrays& arrays,
                               uint64_t element_bytes, int64_t* count) {
  int64_t values = 0;
  LIB_TRY(find_capacity(handle, "the matrix's indices", arrays.indices, sizeof(int), count));
  LIB_TRY(find_capacity(handle, "the matrix's values", arrays.values, element_bytes, &values));
  *count = std::min(*count, values);
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace km::cusparse
