// Creation of sparse matrices' descriptors and their arrays.
#include "dropin/cusparse/matrix/creation.h"

namespace km::cusparse {
namespace {

using IndexType = cusparseIndexType_t;
using IndexBase = cusparseIndexBase_t;

/// Checks a matrix and stores its descriptor.
template <class Id>
cusparseStatus_t create(Id* place, SpMat matrix, bool is_const,
                        const char* function = __builtin_FUNCTION()) {
  const auto make = [&]() -> cusparseStatus_t {
    LIB_TRY(check_matrix(matrix));
    matrix.is_const = is_const;
    return give_descriptor(place, matrix, HandleKind::kSparseMatrix);
  };
  return call(make, function);
}

SpMat compressed(cusparseFormat_t format, int64_t rows, int64_t cols, int64_t nnz,
                 const MatrixArrays& arrays, const MatrixTypes& types) {
  SpMat m;
  m.format = format;
  m.rows = rows, m.cols = cols, m.nnz = nnz;
  set_arrays(m, arrays, types);
  return m;
}

SpMat blocked_ell(int64_t rows, int64_t cols, int64_t block, int64_t ell_cols,
                  const MatrixArrays& arrays, const MatrixTypes& types) {
  SpMat m = compressed(CUSPARSE_FORMAT_BLOCKED_ELL, rows, cols, 0, arrays, types);
  m.row_block = m.col_block = block;
  m.ell_cols = ell_cols;
  m.nnz = checked_product(rows, ell_cols);
  return m;
}

SpMat bsr(int64_t rows, int64_t cols, int64_t nnz, int64_t row_block, int64_t col_block,
          const MatrixArrays& arrays, const MatrixTypes& types, cusparseOrder_t order) {
  SpMat m = compressed(CUSPARSE_FORMAT_BSR, 0, 0, 0, arrays, types);
  m.row_block = row_block, m.col_block = col_block;
  m.rows = checked_product(rows, row_block), m.cols = checked_product(cols, col_block);
  m.nnz = checked_product(nnz, checked_product(row_block, col_block));
  m.order = order;
  return m;
}

SpMat sliced_ell(int64_t rows, int64_t cols, int64_t nnz, int64_t padded_size, int64_t slice,
                 const MatrixArrays& arrays, const MatrixTypes& types) {
  SpMat m = compressed(CUSPARSE_FORMAT_SLICED_ELLPACK, rows, cols, nnz, arrays, types);
  m.row_block = slice;
  m.padded_size = padded_size;
  return m;
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t* out, int64_t rows, int64_t cols,
                                   int64_t nnz, void* offsets, void* indices, void* values,
                                   IndexType offsets_type, IndexType indices_type, IndexBase base,
                                   cudaDataType type) {
  return create(out,
                compressed(CUSPARSE_FORMAT_CSR, rows, cols, nnz, {offsets, indices, values},
                           {offsets_type, indices_type, base, type}),
                false);
}
cusparseStatus_t cusparseCreateConstCsr(cusparseConstSpMatDescr_t* out, int64_t rows, int64_t cols,
                                        int64_t nnz, const void* offsets, const void* indices,
                                        const void* values, IndexType offsets_type,
                                        IndexType indices_type, IndexBase base, cudaDataType type) {
  return create(out,
                compressed(CUSPARSE_FORMAT_CSR, rows, cols, nnz, {offsets, indices, values},
                           {offsets_type, indices_type, base, type}),
                true);
}
cusparseStatus_t cusparseCreateCsc(cusparseSpMatDescr_t* out, int64_t rows, int64_t cols,
                                   int64_t nnz, void* offsets, void* indices, void* values,
                                   IndexType offsets_type, IndexType indices_type, IndexBase base,
                                   cudaDataType type) {
  return create(out,
                compressed(CUSPARSE_FORMAT_CSC, rows, cols, nnz, {offsets, indices, values},
                           {offsets_type, indices_type, base, type}),
                false);
}
cusparseStatus_t cusparseCreateConstCsc(cusparseConstSpMatDescr_t* out, int64_t rows, int64_t cols,
                                        int64_t nnz, const void* offsets, const void* indices,
                                        const void* values, IndexType offsets_type,
                                        IndexType indices_type, IndexBase base, cudaDataType type) {
  return create(out,
                compressed(CUSPARSE_FORMAT_CSC, rows, cols, nnz, {offsets, indices, values},
                           {offsets_type, indices_type, base, type}),
                true);
}

cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t* out, int64_t rows, int64_t cols,
                                   int64_t nnz, void* row_indices, void* indices, void* values,
                                   IndexType index_type, IndexBase base, cudaDataType type) {
  return create(out,
                compressed(CUSPARSE_FORMAT_COO, rows, cols, nnz, {row_indices, indices, values},
                           {index_type, index_type, base, type}),
                false);
}
cusparseStatus_t cusparseCreateConstCoo(cusparseConstSpMatDescr_t* out, int64_t rows, int64_t cols,
                                        int64_t nnz, const void* row_indices, const void* indices,
                                        const void* values, IndexType index_type, IndexBase base,
                                        cudaDataType type) {
  return create(out,
                compressed(CUSPARSE_FORMAT_COO, rows, cols, nnz, {row_indices, indices, values},
                           {index_type, index_type, base, type}),
                true);
}

cusparseStatus_t cusparseCreateBlockedEll(cusparseSpMatDescr_t* out, int64_t rows, int64_t cols,
                                          int64_t block, int64_t ell_cols, void* indices,
                                          void* values, IndexType index_type, IndexBase base,
                                          cudaDataType type) {
  return create(out,
                blocked_ell(rows, cols, block, ell_cols, {nullptr, indices, values},
                            {index_type, index_type, base, type}),
                false);
}
cusparseStatus_t cusparseCreateConstBlockedEll(cusparseConstSpMatDescr_t* out, int64_t rows,
                                               int64_t cols, int64_t block, int64_t ell_cols,
                                               const void* indices, const void* values,
                                               IndexType index_type, IndexBase base,
                                               cudaDataType type) {
  return create(out,
                blocked_ell(rows, cols, block, ell_cols, {nullptr, indices, values},
                            {index_type, index_type, base, type}),
                true);
}

cusparseStatus_t cusparseCreateBsr(cusparseSpMatDescr_t* out, int64_t rows, int64_t cols,
                                   int64_t nnz, int64_t row_block, int64_t col_block, void* offsets,
                                   void* indices, void* values, IndexType offsets_type,
                                   IndexType indices_type, IndexBase base, cudaDataType type,
                                   cusparseOrder_t order) {
  return create(out,
                bsr(rows, cols, nnz, row_block, col_block, {offsets, indices, values},
                    {offsets_type, indices_type, base, type}, order),
                false);
}
cusparseStatus_t cusparseCreateConstBsr(cusparseConstSpMatDescr_t* out, int64_t rows, int64_t cols,
                                        int64_t nnz, int64_t row_block, int64_t col_block,
                                        const void* offsets, const void* indices,
                                        const void* values, IndexType offsets_type,
                                        IndexType indices_type, IndexBase base, cudaDataType type,
                                        cusparseOrder_t order) {
  return create(out,
                bsr(rows, cols, nnz, row_block, col_block, {offsets, indices, values},
                    {offsets_type, indices_type, base, type}, order),
                true);
}

cusparseStatus_t cusparseCreateSlicedEll(cusparseSpMatDescr_t* out, int64_t rows, int64_t cols,
                                         int64_t nnz, int64_t padded_size, int64_t slice,
                                         void* offsets, void* indices, void* values,
                                         IndexType offsets_type, IndexType indices_type,
                                         IndexBase base, cudaDataType type) {
  return create(out,
                sliced_ell(rows, cols, nnz, padded_size, slice, {offsets, indices, values},
                           {offsets_type, indices_type, base, type}),
                false);
}
cusparseStatus_t cusparseCreateConstSlicedEll(cusparseConstSpMatDescr_t* out, int64_t rows,
                                              int64_t cols, int64_t nnz, int64_t padded_size,
                                              int64_t slice, const void* offsets,
                                              const void* indices, const void* values,
                                              IndexType offsets_type, IndexType indices_type,
                                              IndexBase base, cudaDataType type) {
  return create(out,
                sliced_ell(rows, cols, nnz, padded_size, slice, {offsets, indices, values},
                           {offsets_type, indices_type, base, type}),
                true);
}

cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t matrix) {
  return call([&] { return end_object<Shared<SpMat>>(matrix); });
}

}  // extern "C"

}  // namespace km::cusparse
