// Counting of nonzeros, compression and pruning. They use no workspace.
#include "dropin/cusparse/legacy/exports.h"
#include "dropin/cusparse/legacy/matrices.h"
#include "dropin/cusparse/legacy/selection.h"

namespace km::cusparse {
namespace {

/// The object of an info of prune has no members.
struct PruneInfo {};

PruneCall of_dense(int m, int n, const void* a, int lda, cusparseMatDescr_t settings) {
  PruneCall call{};
  call.is_dense = true;
  call.rows = m, call.cols = n;
  call.a = a, call.lda = lda;
  call.result_settings = settings;
  return call;
}
PruneCall of_sparse(int m, int n, int nnz, cusparseMatDescr_t settings_a, const IntArrays& a,
                    cusparseMatDescr_t settings_c) {
  PruneCall call{};
  call.rows = m, call.cols = n, call.nnz = nnz;
  call.settings = settings_a, call.sparse = a;
  call.result_settings = settings_c;
  return call;
}
PruneCall by_threshold(PruneCall call, const void* threshold) {
  call.threshold = threshold;
  return call;
}
PruneCall by_percentage(PruneCall call, float percentage) {
  call.is_by_percentage = true;
  call.percentage = percentage;
  return call;
}

cusparseStatus_t run_count(cusparseHandle_t handle, cudaDataType type, const PruneCall& arguments,
                           int* offsets, int* total, const char* function = __builtin_FUNCTION()) {
  return call(
      handle, [&](Handle& h) { return count_pruned(h, type, arguments, offsets, total); },
      function);
}
cusparseStatus_t run_prune(cusparseHandle_t handle, cudaDataType type, const PruneCall& arguments,
                           const IntArrays& out, const char* function = __builtin_FUNCTION()) {
  return call(handle, [&](Handle& h) { return prune(h, type, arguments, out); }, function);
}
cusparseStatus_t check_info(pruneInfo_t info) {
  PruneInfo ignored;
  return read_descriptor("info", info, &ignored);
}
cusparseStatus_t require_info(pruneInfo_t info, const char* function = __builtin_FUNCTION()) {
  return call([&] { return check_info(info); }, function);
}

/// The limit of a compression, which is passed by value.
template <class T>
Scalar limit_of(const T& limit) {
  return Scalar::of(limit);
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseCreatePruneInfo(pruneInfo_t* info) {
  return call([&] { return give_descriptor(info, PruneInfo{}, HandleKind::kSparseInfo); });
}
cusparseStatus_t cusparseDestroyPruneInfo(pruneInfo_t info) {
  return call([&] { return end_object<Shared<PruneInfo>>(info); });
}

#define KM_NNZ(L, T)                                                                               \
  cusparseStatus_t cusparse##L##nnz(cusparseHandle_t handle, cusparseDirection_t direction, int m, \
                                    int n, const cusparseMatDescr_t settings, const T* a, int lda, \
                                    int* counts, int* total) {                                     \
    return call(handle, [&](Handle& h) {                                                           \
      return count_dense(h, kExportType<T>, {direction, m, n, settings, a, lda, counts, total});   \
    });                                                                                            \
  }                                                                                                \
  cusparseStatus_t cusparse##L##nnz_compress(                                                      \
      cusparseHandle_t handle, int m, const cusparseMatDescr_t settings, const T* values,          \
      const int* offsets, int* counts, int* total, T limit) {                                      \
    return call(handle, [&](Handle& h) {                                                           \
      return count_compressed(h, kExportType<T>,                                                   \
                              {m, 0, settings, {values, offsets, nullptr}, -1, limit_of(limit)},   \
                              counts, total);                                                      \
    });                                                                                            \
  }                                                                                                \
  cusparseStatus_t cusparse##L##csr2csr_compress(                                                  \
      cusparseHandle_t handle, int m, int n, const cusparseMatDescr_t settings, const T* values,   \
      const int* indices, const int* offsets, int nnz, const int* counts, T* values_c,             \
      int* indices_c, int* offsets_c, T limit) {                                                   \
    return call(handle, [&](Handle& h) -> cusparseStatus_t {                                       \
      LIB_TRY(check_sizes({nnz}));                                                                 \
      return compress(h, kExportType<T>,                                                           \
                      {m, n, settings, {values, offsets, indices}, nnz, limit_of(limit)}, counts,  \
                      {values_c, offsets_c, indices_c});                                           \
    });                                                                                            \
  }
KM_FOR_ALL_TYPES(KM_NNZ)

#define KM_FOR_PRUNED_TYPES(DEFINE) \
  DEFINE(H, __half)                 \
  DEFINE(S, float)                  \
  DEFINE(D, double)

#define KM_PRUNE_DENSE(L, T)                                                                       \
  cusparseStatus_t cusparse##L##pruneDense2csr_bufferSizeExt(                                      \
      cusparseHandle_t handle, int m, int n, const T*, int lda, const T*,                          \
      const cusparseMatDescr_t, const T*, const int*, const int*, size_t* size) {                  \
    return give_size(handle, {m, n, lda}, size);                                                   \
  }                                                                                                \
  cusparseStatus_t cusparse##L##pruneDense2csrNnz(                                                 \
      cusparseHandle_t handle, int m, int n, const T* a, int lda, const T* threshold,              \
      const cusparseMatDescr_t settings, int* offsets, int* total, void*) {                        \
    return run_count(handle, kExportType<T>,                                                       \
                     by_threshold(of_dense(m, n, a, lda, settings), threshold), offsets, total);   \
  }                                                                                                \
  cusparseStatus_t cusparse##L##pruneDense2csr(                                                    \
      cusparseHandle_t handle, int m, int n, const T* a, int lda, const T* threshold,              \
      const cusparseMatDescr_t settings, T* values, const int* offsets, int* indices, void*) {     \
    return run_prune(handle, kExportType<T>,                                                       \
                     by_threshold(of_dense(m, n, a, lda, settings), threshold),                    \
                     {values, offsets, indices});                                                  \
  }                                                                                                \
  cusparseStatus_t cusparse##L##pruneDense2csrByPercentage_bufferSizeExt(                          \
      cusparseHandle_t handle, int m, int n, const T*, int lda, float, const cusparseMatDescr_t,   \
      const T*, const int*, const int*, pruneInfo_t, size_t* size) {                               \
    return give_size(handle, {m, n, lda}, size);                                                   \
  }                                                                                                \
  cusparseStatus_t cusparse##L##pruneDense2csrNnzByPercentage(                                     \
      cusparseHandle_t handle, int m, int n, const T* a, int lda, float percentage,                \
      const cusparseMatDescr_t settings, int* offsets, int* total, pruneInfo_t info, void*) {      \
    LIB_TRY(require_info(info));                                                                   \
    return run_count(handle, kExportType<T>,                                                       \
                     by_percentage(of_dense(m, n, a, lda, settings), percentage), offsets, total); \
  }                                                                                                \
  cusparseStatus_t cusparse##L##pruneDense2csrByPercentage(                                        \
      cusparseHandle_t handle, int m, int n, const T* a, int lda, float percentage,                \
      const cusparseMatDescr_t settings, T* values, const int* offsets, int* indices,              \
      pruneInfo_t info, void*) {                                                                   \
    LIB_TRY(require_info(info));                                                                   \
    return run_prune(handle, kExportType<T>,                                                       \
                     by_percentage(of_dense(m, n, a, lda, settings), percentage),                  \
                     {values, offsets, indices});                                                  \
  }
KM_FOR_PRUNED_TYPES(KM_PRUNE_DENSE)

#define KM_PRUNE_CSR(L, T)                                                                        \
  cusparseStatus_t cusparse##L##pruneCsr2csr_bufferSizeExt(                                       \
      cusparseHandle_t handle, int m, int n, int nnz, const cusparseMatDescr_t, const T*,         \
      const int*, const int*, const T*, const cusparseMatDescr_t, const T*, const int*,           \
      const int*, size_t* size) {                                                                 \
    return give_size(handle, {m, n, nnz}, size);                                                  \
  }                                                                                               \
  cusparseStatus_t cusparse##L##pruneCsr2csrNnz(                                                  \
      cusparseHandle_t handle, int m, int n, int nnz, const cusparseMatDescr_t settings_a,        \
      const T* values, const int* offsets, const int* indices, const T* threshold,                \
      const cusparseMatDescr_t settings_c, int* offsets_c, int* total, void*) {                   \
    return run_count(                                                                             \
        handle, kExportType<T>,                                                                   \
        by_threshold(of_sparse(m, n, nnz, settings_a, {values, offsets, indices}, settings_c),    \
                     threshold),                                                                  \
        offsets_c, total);                                                                        \
  }                                                                                               \
  cusparseStatus_t cusparse##L##pruneCsr2csr(                                                     \
      cusparseHandle_t handle, int m, int n, int nnz, const cusparseMatDescr_t settings_a,        \
      const T* values, const int* offsets, const int* indices, const T* threshold,                \
      const cusparseMatDescr_t settings_c, T* values_c, const int* offsets_c, int* indices_c,     \
      void*) {                                                                                    \
    return run_prune(                                                                             \
        handle, kExportType<T>,                                                                   \
        by_threshold(of_sparse(m, n, nnz, settings_a, {values, offsets, indices}, settings_c),    \
                     threshold),                                                                  \
        {values_c, offsets_c, indices_c});                                                        \
  }                                                                                               \
  cusparseStatus_t cusparse##L##pruneCsr2csrByPercentage_bufferSizeExt(                           \
      cusparseHandle_t handle, int m, int n, int nnz, const cusparseMatDescr_t, const T*,         \
      const int*, const int*, float, const cusparseMatDescr_t, const T*, const int*, const int*,  \
      pruneInfo_t, size_t* size) {                                                                \
    return give_size(handle, {m, n, nnz}, size);                                                  \
  }                                                                                               \
  cusparseStatus_t cusparse##L##pruneCsr2csrNnzByPercentage(                                      \
      cusparseHandle_t handle, int m, int n, int nnz, const cusparseMatDescr_t settings_a,        \
      const T* values, const int* offsets, const int* indices, float percentage,                  \
      const cusparseMatDescr_t settings_c, int* offsets_c, int* total, pruneInfo_t info, void*) { \
    LIB_TRY(require_info(info));                                                                  \
    return run_count(                                                                             \
        handle, kExportType<T>,                                                                   \
        by_percentage(of_sparse(m, n, nnz, settings_a, {values, offsets, indices}, settings_c),   \
                      percentage),                                                                \
        offsets_c, total);                                                                        \
  }                                                                                               \
  cusparseStatus_t cusparse##L##pruneCsr2csrByPercentage(                                         \
      cusparseHandle_t handle, int m, int n, int nnz, const cusparseMatDescr_t settings_a,        \
      const T* values, const int* offsets, const int* indices, float percentage,                  \
      const cusparseMatDescr_t settings_c, T* values_c, const int* offsets_c, int* indices_c,     \
      pruneInfo_t info, void*) {                                                                  \
    LIB_TRY(require_info(info));                                                                  \
    return run_prune(                                                                             \
        handle, kExportType<T>,                                                                   \
        by_percentage(of_sparse(m, n, nnz, settings_a, {values, offsets, indices}, settings_c),   \
                      percentage),                                                                \
        {values_c, offsets_c, indices_c});                                                        \
  }
KM_FOR_PRUNED_TYPES(KM_PRUNE_CSR)

}  // extern "C"

}  // namespace km::cusparse
