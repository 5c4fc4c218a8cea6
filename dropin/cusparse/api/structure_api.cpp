// Conversions of structures: offsets and indices, sorting, CSR and CSC, csru2csr.
#include "dropin/cusparse/legacy/exports.h"
#include "dropin/cusparse/legacy/matrices.h"
#include "dropin/cusparse/legacy/structure.h"

namespace km::cusparse {
namespace {

/// The matrix of csru2csr.
cusparseStatus_t read_csr(int rows, int cols, int nnz, cusparseMatDescr_t id, cudaDataType type,
                          const IntArrays& arrays, SpMat* out) {
  MatDescr settings;
  LIB_TRY(check_sizes({rows, cols, nnz}));
  LIB_TRY(read_settings("descrA", id, &settings));
  *out = csr_of(rows, cols, nnz, settings, type, arrays);
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t change_order(cusparseHandle_t handle, bool sorts, int rows, int cols, int nnz,
                              cusparseMatDescr_t id, cudaDataType type, const IntArrays& arrays,
                              csru2csrInfo_t info, const char* function = __builtin_FUNCTION()) {
  const auto body = [&](Handle& h) -> cusparseStatus_t {
    SpMat a;
    LIB_TRY(read_csr(rows, cols, nnz, id, type, arrays, &a));
    return sorts ? sort_csr(h, a, info) : unsort_csr(h, a, info);
  };
  return call(handle, body, function);
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseXcoo2csr(cusparseHandle_t handle, const int* indices, int nnz, int m,
                                  int* offsets, cusparseIndexBase_t base) {
  return call(handle,
              [&](Handle& h) { return indices_to_offsets(h, indices, nnz, m, offsets, base); });
}
cusparseStatus_t cusparseXcsr2coo(cusparseHandle_t handle, const int* offsets, int nnz, int m,
                                  int* indices, cusparseIndexBase_t base) {
  return call(handle,
              [&](Handle& h) { return offsets_to_indices(h, offsets, nnz, m, indices, base); });
}
cusparseStatus_t cusparseCreateIdentityPermutation(cusparseHandle_t handle, int n, int* p) {
  return call(handle, [&](Handle& h) { return fill_identity(h, n, p); });
}

cusparseStatus_t cusparseXcoosort_bufferSizeExt(cusparseHandle_t handle, int m, int n, int nnz,
                                                const int*, const int*, size_t* size) {
  return give_size(handle, {m, n, nnz}, size);
}
cusparseStatus_t cusparseXcoosortByRow(cusparseHandle_t handle, int, int, int nnz, int* rows,
                                       int* cols, int* p, void*) {
  return call(handle,
              [&](Handle& h) { return sort_coo(h, "cusparseXcoosortByRow", nnz, rows, cols, p); });
}
cusparseStatus_t cusparseXcoosortByColumn(cusparseHandle_t handle, int, int, int nnz, int* rows,
                                          int* cols, int* p, void*) {
  return call(handle, [&](Handle& h) {
    return sort_coo(h, "cusparseXcoosortByColumn", nnz, cols, rows, p);
  });
}
cusparseStatus_t cusparseXcsrsort_bufferSizeExt(cusparseHandle_t handle, int m, int n, int nnz,
                                                const int*, const int*, size_t* size) {
  return give_size(handle, {m, n, nnz}, size);
}
cusparseStatus_t cusparseXcsrsort(cusparseHandle_t handle, int m, int, int nnz,
                                  const cusparseMatDescr_t settings, const int* offsets,
                                  int* indices, int* p, void*) {
  return call(handle, [&](Handle& h) {
    return sort_lines(h, "cusparseXcsrsort", m, nnz, settings, offsets, indices, p);
  });
}
cusparseStatus_t cusparseXcscsort_bufferSizeExt(cusparseHandle_t handle, int m, int n, int nnz,
                                                const int*, const int*, size_t* size) {
  return give_size(handle, {m, n, nnz}, size);
}
cusparseStatus_t cusparseXcscsort(cusparseHandle_t handle, int, int n, int nnz,
                                  const cusparseMatDescr_t settings, const int* offsets,
                                  int* indices, int* p, void*) {
  return call(handle, [&](Handle& h) {
    return sort_lines(h, "cusparseXcscsort", n, nnz, settings, offsets, indices, p);
  });
}

cusparseStatus_t cusparseCsr2cscEx2_bufferSize(
    cusparseHandle_t handle, int m, int n, int nnz, const void* values, const int* offsets,
    const int* indices, void* csc_values, int* csc_offsets, int* csc_indices, cudaDataType type,
    cusparseAction_t action, cusparseIndexBase_t base, cusparseCsr2CscAlg_t, size_t* size) {
  return call(handle, [&](Handle&) -> cusparseStatus_t {
    LIB_TRY(check_transpose({m,
                             n,
                             nnz,
                             {values, offsets, indices},
                             csc_values,
                             csc_offsets,
                             csc_indices,
                             type,
                             action,
                             base}));
    return give("bufferSize", size, kNoWorkspace);
  });
}
cusparseStatus_t cusparseCsr2cscEx2(cusparseHandle_t handle, int m, int n, int nnz,
                                    const void* values, const int* offsets, const int* indices,
                                    void* csc_values, int* csc_offsets, int* csc_indices,
                                    cudaDataType type, cusparseAction_t action,
                                    cusparseIndexBase_t base, cusparseCsr2CscAlg_t, void*) {
  return call(handle, [&](Handle& h) {
    return transpose(h, {m,
                         n,
                         nnz,
                         {values, offsets, indices},
                         csc_values,
                         csc_offsets,
                         csc_indices,
                         type,
                         action,
                         base});
  });
}

cusparseStatus_t cusparseCreateCsru2csrInfo(csru2csrInfo_t* info) {
  return call([&] { return give_descriptor(info, OrderInfo{}, HandleKind::kSparseInfo); });
}
cusparseStatus_t cusparseDestroyCsru2csrInfo(csru2csrInfo_t info) {
  return call([&] { return end_object<Shared<OrderInfo>>(info); });
}

#define KM_CSRU(L, T)                                                                         \
  cusparseStatus_t cusparse##L##csru2csr_bufferSizeExt(cusparseHandle_t handle, int m, int n, \
                                                       int nnz, T*, const int*, int*,         \
                                                       csru2csrInfo_t, size_t* size) {        \
    return give_size(handle, {m, n, nnz}, size);                                              \
  }                                                                                           \
  cusparseStatus_t cusparse##L##csru2csr(                                                     \
      cusparseHandle_t handle, int m, int n, int nnz, const cusparseMatDescr_t settings,      \
      T* values, const int* offsets, int* indices, csru2csrInfo_t info, void*) {              \
    return change_order(handle, true, m, n, nnz, settings, kExportType<T>,                    \
                        {values, offsets, indices}, info);                                    \
  }                                                                                           \
  cusparseStatus_t cusparse##L##csr2csru(                                                     \
      cusparseHandle_t handle, int m, int n, int nnz, const cusparseMatDescr_t settings,      \
      T* values, const int* offsets, int* indices, csru2csrInfo_t info, void*) {              \
    return change_order(handle, false, m, n, nnz, settings, kExportType<T>,                   \
                        {values, offsets, indices}, info);                                    \
  }
KM_FOR_ALL_TYPES(KM_CSRU)

}  // extern "C"

}  // namespace km::cusparse
