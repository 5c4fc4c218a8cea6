// Members of sparse matrices' descriptors: what was set is read back.
#include <cstring>
#include <utility>

#include "dropin/cusparse/matrix/creation.h"

namespace km::cusparse {
namespace {

using IndexType = cusparseIndexType_t;

/// Changes a sparse matrix.
template <class Change>
cusparseStatus_t change(cusparseSpMatDescr_t id, Change&& body,
                        const char* function = __builtin_FUNCTION()) {
  return call([&] { return change_descriptor<SpMat>("spMatDescr", id, body); }, function);
}
/// Reads a sparse matrix.
template <class Body>
cusparseStatus_t look(cusparseConstSpMatDescr_t id, Body&& body,
                      const char* function = __builtin_FUNCTION()) {
  const auto read = [&]() -> cusparseStatus_t {
    SpMat m;
    LIB_TRY(read_descriptor("spMatDescr", id, &m));
    return body(m);
  };
  return call(read, function);
}

cusparseStatus_t give_compressed(cusparseConstSpMatDescr_t id, cusparseFormat_t format,
                                 bool wants_variable, const MatrixPlaces& places,
                                 const char* function = __builtin_FUNCTION()) {
  return call([&] { return give_matrix(id, format, wants_variable, places); }, function);
}

cusparseStatus_t give_blocked_ell(cusparseConstSpMatDescr_t id, bool wants_variable, int64_t* block,
                                  MatrixPlaces places, const char* function) {
  const auto give_it = [&]() -> cusparseStatus_t {
    SpMat m;
    LIB_TRY(read_descriptor("spMatDescr", id, &m));
    LIB_TRY(give("ellBlockSize", block, m.row_block));
    int64_t ignored_count = 0;
    const void* ignored = nullptr;
    IndexType ignored_type = CUSPARSE_INDEX_32I;
    int64_t* const ell_cols = std::exchange(places.nnz, &ignored_count);
    places.offsets = &ignored;
    places.offsets_type = &ignored_type;
    LIB_TRY(give_matrix(id, CUSPARSE_FORMAT_BLOCKED_ELL, wants_variable, places));
    return give("ellCols", ell_cols, m.ell_cols);
  };
  return call(give_it, function);
}

/// The place of an attribute; null if there is no such one.
void* attribute_of(SpMat& m, cusparseSpMatAttribute_t attribute) {
  switch (attribute) {
    case CUSPARSE_SPMAT_FILL_MODE:
      return &m.fill;
    case CUSPARSE_SPMAT_DIAG_TYPE:
      return &m.diagonal;
    case CUSPARSE_SPMAT_STORAGE:
      return &m.storage;
    case CUSPARSE_SPMAT_SYMMETRY_TYPE:
      return &m.symmetry;
    default:
      return nullptr;
  }
}

/// Checks the batch's sizes and sets them.
cusparseStatus_t set_batch(SpMat& m, int count, int64_t offsets, int64_t indices, int64_t values) {
  constexpr int64_t kMost = int64_t{1} << 58;
  if (count <= 0) return invalid("batchCount is %d", count);
  for (const int64_t stride : {offsets, indices, values}) {
    if (stride < 0 || stride >= kMost) {
      return invalid("a stride is %lld", static_cast<long long>(stride));
    }
  }
  m.batch_count = count;
  m.offsets_stride = offsets, m.indices_stride = indices, m.values_stride = values;
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseCsrGet(cusparseSpMatDescr_t id, int64_t* rows, int64_t* cols, int64_t* nnz,
                                void** offsets, void** indices, void** values,
                                IndexType* offsets_type, IndexType* indices_type,
                                cusparseIndexBase_t* base, cudaDataType* type) {
  return give_compressed(
      id, CUSPARSE_FORMAT_CSR, true,
      {rows, cols, nnz, const_cast<const void**>(offsets), const_cast<const void**>(indices),
       const_cast<const void**>(values), offsets_type, indices_type, base, type});
}
cusparseStatus_t cusparseConstCsrGet(cusparseConstSpMatDescr_t id, int64_t* rows, int64_t* cols,
                                     int64_t* nnz, const void** offsets, const void** indices,
                                     const void** values, IndexType* offsets_type,
                                     IndexType* indices_type, cusparseIndexBase_t* base,
                                     cudaDataType* type) {
  return give_compressed(
      id, CUSPARSE_FORMAT_CSR, false,
      {rows, cols, nnz, offsets, indices, values, offsets_type, indices_type, base, type});
}
cusparseStatus_t cusparseCscGet(cusparseSpMatDescr_t id, int64_t* rows, int64_t* cols, int64_t* nnz,
                                void** offsets, void** indices, void** values,
                                IndexType* offsets_type, IndexType* indices_type,
                                cusparseIndexBase_t* base, cudaDataType* type) {
  return give_compressed(
      id, CUSPARSE_FORMAT_CSC, true,
      {rows, cols, nnz, const_cast<const void**>(offsets), const_cast<const void**>(indices),
       const_cast<const void**>(values), offsets_type, indices_type, base, type});
}
cusparseStatus_t cusparseConstCscGet(cusparseConstSpMatDescr_t id, int64_t* rows, int64_t* cols,
                                     int64_t* nnz, const void** offsets, const void** indices,
                                     const void** values, IndexType* offsets_type,
                                     IndexType* indices_type, cusparseIndexBase_t* base,
                                     cudaDataType* type) {
  return give_compressed(
      id, CUSPARSE_FORMAT_CSC, false,
      {rows, cols, nnz, offsets, indices, values, offsets_type, indices_type, base, type});
}

cusparseStatus_t cusparseCooGet(cusparseSpMatDescr_t id, int64_t* rows, int64_t* cols, int64_t* nnz,
                                void** row_indices, void** indices, void** values,
                                IndexType* index_type, cusparseIndexBase_t* base,
                                cudaDataType* type) {
  return give_compressed(
      id, CUSPARSE_FORMAT_COO, true,
      {rows, cols, nnz, const_cast<const void**>(row_indices), const_cast<const void**>(indices),
       const_cast<const void**>(values), index_type, index_type, base, type});
}
cusparseStatus_t cusparseConstCooGet(cusparseConstSpMatDescr_t id, int64_t* rows, int64_t* cols,
                                     int64_t* nnz, const void** row_indices, const void** indices,
                                     const void** values, IndexType* index_type,
                                     cusparseIndexBase_t* base, cudaDataType* type) {
  return give_compressed(
      id, CUSPARSE_FORMAT_COO, false,
      {rows, cols, nnz, row_indices, indices, values, index_type, index_type, base, type});
}

cusparseStatus_t cusparseBlockedEllGet(cusparseSpMatDescr_t id, int64_t* rows, int64_t* cols,
                                       int64_t* block, int64_t* ell_cols, void** indices,
                                       void** values, IndexType* index_type,
                                       cusparseIndexBase_t* base, cudaDataType* type) {
  return give_blocked_ell(id, true, block,
                          {rows, cols, ell_cols, nullptr, const_cast<const void**>(indices),
                           const_cast<const void**>(values), nullptr, index_type, base, type},
                          __func__);
}
cusparseStatus_t cusparseConstBlockedEllGet(cusparseConstSpMatDescr_t id, int64_t* rows,
                                            int64_t* cols, int64_t* block, int64_t* ell_cols,
                                            const void** indices, const void** values,
                                            IndexType* index_type, cusparseIndexBase_t* base,
                                            cudaDataType* type) {
  return give_blocked_ell(
      id, false, block,
      {rows, cols, ell_cols, nullptr, indices, values, nullptr, index_type, base, type}, __func__);
}

cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t id, void* offsets, void* indices,
                                        void* values) {
  return call([&] { return set_pointers(id, CUSPARSE_FORMAT_CSR, offsets, indices, values); });
}
cusparseStatus_t cusparseCscSetPointers(cusparseSpMatDescr_t id, void* offsets, void* indices,
                                        void* values) {
  return call([&] { return set_pointers(id, CUSPARSE_FORMAT_CSC, offsets, indices, values); });
}
cusparseStatus_t cusparseCooSetPointers(cusparseSpMatDescr_t id, void* rows, void* columns,
                                        void* values) {
  return call([&] { return set_pointers(id, CUSPARSE_FORMAT_COO, rows, columns, values); });
}

cusparseStatus_t cusparseSpMatGetFormat(cusparseConstSpMatDescr_t id, cusparseFormat_t* format) {
  return look(id, [&](const SpMat& m) { return give("format", format, m.format); });
}
cusparseStatus_t cusparseSpMatGetIndexBase(cusparseConstSpMatDescr_t id,
                                           cusparseIndexBase_t* base) {
  return look(id, [&](const SpMat& m) { return give("idxBase", base, m.base); });
}
cusparseStatus_t cusparseSpMatGetValues(cusparseSpMatDescr_t id, void** values) {
  return look(id, [&](const SpMat& m) -> cusparseStatus_t {
    if (m.is_const) return invalid("the matrix is constant");
    return give("values", values, m.values);
  });
}
cusparseStatus_t cusparseConstSpMatGetValues(cusparseConstSpMatDescr_t id, const void** values) {
  return look(id, [&](const SpMat& m) { return give<const void*>("values", values, m.values); });
}
cusparseStatus_t cusparseSpMatSetValues(cusparseSpMatDescr_t id, void* values) {
  return change(id, [&](SpMat& m) -> cusparseStatus_t {
    if (m.is_const) return invalid("the matrix is constant");
    m.values = values;
    return CUSPARSE_STATUS_SUCCESS;
  });
}
cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t id, int64_t* rows, int64_t* cols,
                                      int64_t* nnz) {
  return look(id, [&](const SpMat& m) -> cusparseStatus_t {
    LIB_TRY(give("rows", rows, m.rows));
    LIB_TRY(give("cols", cols, m.cols));
    return give("nnz", nnz, m.nnz);
  });
}

cusparseStatus_t cusparseSpMatGetSizes(cusparseConstSpMatDescr_t id, cusparseSpMatSizes_t* sizes) {
  return look(id, [&](const SpMat& m) {
    cusparseSpMatSizes_t all{};
    all.format = m.format;
    int64_t* const out = all.data.sizes;
    out[0] = m.rows, out[1] = m.cols, out[2] = m.nnz;
    if (m.format == CUSPARSE_FORMAT_BLOCKED_ELL) out[2] = m.row_block, out[3] = m.ell_cols;
    if (m.format == CUSPARSE_FORMAT_SLICED_ELLPACK) out[3] = m.padded_size, out[4] = m.row_block;
    if (m.format == CUSPARSE_FORMAT_BSR) {
      out[0] /= m.row_block, out[1] /= m.col_block, out[2] /= m.row_block * m.col_block;
      out[3] = m.row_block, out[4] = m.col_block;
    }
    return give("sizes", sizes, all);
  });
}

cusparseStatus_t cusparseSpMatGetPointers(cusparseSpMatDescr_t id,
                                          cusparseSpMatPointers_t* pointers) {
  return look(id, [&](const SpMat& m) -> cusparseStatus_t {
    if (m.is_const) return invalid("the matrix is constant");
    cusparseSpMatPointers_t all{};
    all.format = m.format;
    const bool has_offsets = m.format != CUSPARSE_FORMAT_BLOCKED_ELL;
    void** out = all.data.arrays;
    if (has_offsets) *out++ = m.offsets;
    *out++ = m.indices;
    *out = m.values;
    return give("pointers", pointers, all);
  });
}

cusparseStatus_t cusparseSpMatSetPointers(cusparseSpMatDescr_t id,
                                          const cusparseSpMatPointers_t* pointers) {
  return call([&]() -> cusparseStatus_t {
    cusparseSpMatPointers_t all{};
    if (!library::read_host(pointers, &all)) return invalid("pointers cannot be read");
    void* const* const given = all.data.arrays;
    if (all.format == CUSPARSE_FORMAT_BLOCKED_ELL) {
      return set_pointers(id, all.format, nullptr, given[0], given[1]);
    }
    return set_pointers(id, all.format, given[0], given[1], given[2]);
  });
}

cusparseStatus_t cusparseSpMatGetStridedBatch(cusparseConstSpMatDescr_t id, int* count) {
  return look(id, [&](const SpMat& m) { return give("batchCount", count, m.batch_count); });
}
cusparseStatus_t cusparseCsrSetStridedBatch(cusparseSpMatDescr_t id, int count, int64_t offsets,
                                            int64_t columns_values) {
  return change(id, [&](SpMat& m) -> cusparseStatus_t {
    if (m.format != CUSPARSE_FORMAT_CSR) return invalid("the matrix is not in CSR format");
    return set_batch(m, count, offsets, columns_values, columns_values);
  });
}
cusparseStatus_t cusparseCooSetStridedBatch(cusparseSpMatDescr_t id, int count, int64_t stride) {
  return change(id, [&](SpMat& m) -> cusparseStatus_t {
    if (m.format != CUSPARSE_FORMAT_COO) return invalid("the matrix is not in COO format");
    return set_batch(m, count, stride, stride, stride);
  });
}
cusparseStatus_t cusparseBsrSetStridedBatch(cusparseSpMatDescr_t id, int count, int64_t offsets,
                                            int64_t columns, int64_t values) {
  return change(id, [&](SpMat& m) -> cusparseStatus_t {
    if (m.format != CUSPARSE_FORMAT_BSR) return invalid("the matrix is not in BSR format");
    return set_batch(m, count, offsets, columns, values);
  });
}

cusparseStatus_t cusparseSpMatGetAttribute(cusparseConstSpMatDescr_t id,
                                           cusparseSpMatAttribute_t attribute, void* data,
                                           size_t size_bytes) {
  return call([&]() -> cusparseStatus_t {
    SpMat m;
    LIB_TRY(read_descriptor("spMatDescr", id, &m));
    const void* const from = attribute_of(m, attribute);
    if (from == nullptr) return invalid("attribute is %d", static_cast<int>(attribute));
    if (size_bytes != sizeof(int32_t)) return invalid("dataSize is %zu", size_bytes);
    return give("data", static_cast<int32_t*>(data), read_element<int32_t>(from, 0));
  });
}
cusparseStatus_t cusparseSpMatSetAttribute(cusparseSpMatDescr_t id,
                                           cusparseSpMatAttribute_t attribute, void* data,
                                           size_t size_bytes) {
  return change(id, [&](SpMat& m) -> cusparseStatus_t {
    void* const to = attribute_of(m, attribute);
    if (to == nullptr) return invalid("attribute is %d", static_cast<int>(attribute));
    int32_t value = 0;
    if (size_bytes != sizeof value) return invalid("dataSize is %zu", size_bytes);
    if (!library::read_host(&value, data, sizeof value)) return invalid("data cannot be read");
    const int last = attribute <= CUSPARSE_SPMAT_DIAG_TYPE ? 1 : 2;
    if (value < 0 || value > last) return invalid("the attribute's value is %d", value);
    std::memcpy(to, &value, sizeof value);
    return CUSPARSE_STATUS_SUCCESS;
  });
}

}  // extern "C"

}  // namespace km::cusparse
