// Systems with three and five diagonals. They use no workspace.
#include <array>

#include "dropin/cusparse/legacy/band.h"
#include "dropin/cusparse/legacy/exports.h"
#include "dropin/cusparse/legacy/matrices.h"

namespace km::cusparse {
namespace {

/// One system with several right-hand sides.
cusparseStatus_t solve_columns(cusparseHandle_t handle, cudaDataType type, int m, int n,
                               const std::array<const void*, 3>& diagonals, void* b, int ldb,
                               bool pivots, const char* function = __builtin_FUNCTION()) {
  const auto body = [&](Handle& h) -> cusparseStatus_t {
    LIB_TRY(check_sizes({m, n}));
    if (ldb < std::max(m, 1)) return invalid("ldb is %d", ldb);
    BandSystems s;
    std::copy(diagonals.begin(), diagonals.end(), s.diagonals);
    s.pivots = pivots;
    s.size = m, s.count = n;
    s.x = b, s.x_stride = ldb;
    s.extent = m, s.x_extent = n == 0 ? 0 : int64_t{ldb} * (n - 1) + m;
    s.type = type;
    return solve_band(h, "cusparseGtsv2", s);
  };
  return call(handle, body, function);
}

/// Systems that lie one after the other.
cusparseStatus_t solve_strided(cusparseHandle_t handle, cudaDataType type, int m,
                               const std::array<const void*, 3>& diagonals, void* x, int count,
                               int stride, const char* function = __builtin_FUNCTION()) {
  const auto body = [&](Handle& h) -> cusparseStatus_t {
    LIB_TRY(check_sizes({m, count}));
    if (stride < m) return invalid("batchStride is %d", stride);
    BandSystems s;
    std::copy(diagonals.begin(), diagonals.end(), s.diagonals);
    s.size = m, s.count = count;
    s.stride = s.x_stride = stride;
    s.x = x;
    s.extent = s.x_extent = count == 0 ? 0 : int64_t{stride} * (count - 1) + m;
    s.type = type;
    return solve_band(h, "cusparseGtsv2StridedBatch", s);
  };
  return call(handle, body, function);
}

/// Systems whose elements alternate.
template <size_t kCount>
cusparseStatus_t solve_interleaved(cusparseHandle_t handle, cudaDataType type, int algo, int m,
                                   const std::array<const void*, kCount>& diagonals, void* x,
                                   int count, const char* function = __builtin_FUNCTION()) {
  const auto body = [&](Handle& h) -> cusparseStatus_t {
    LIB_TRY(check_sizes({m, count}));
    if (algo < 0 || algo > (kCount == 3 ? 2 : 0)) return invalid("algo is %d", algo);
    BandSystems s;
    std::copy(diagonals.begin(), diagonals.end(), s.diagonals);
    s.is_five = kCount == 5;
    s.size = m, s.count = count;
    s.step = s.x_step = count;
    s.stride = s.x_stride = 1;
    s.x = x;
    s.extent = s.x_extent = int64_t{m} * count;
    s.type = type;
    return solve_band(
        h, kCount == 3 ? "cusparseGtsvInterleavedBatch" : "cusparseGpsvInterleavedBatch", s);
  };
  return call(handle, body, function);
}

using Three = std::array<const void*, 3>;
using Five = std::array<const void*, 5>;

}  // namespace

extern "C" {

#define KM_GTSV2(L, T, name, pivots)                                                              \
  cusparseStatus_t cusparse##L##name##_bufferSizeExt(cusparseHandle_t handle, int m, int n,       \
                                                     const T*, const T*, const T*, const T*, int, \
                                                     size_t* size) {                              \
    return give_size(handle, {m, n}, size, "bufferSizeInBytes");                                  \
  }                                                                                               \
  cusparseStatus_t cusparse##L##name(cusparseHandle_t handle, int m, int n, const T* dl,          \
                                     const T* d, const T* du, T* b, int ldb, void*) {             \
    return solve_columns(handle, kExportType<T>, m, n, {dl, d, du}, b, ldb, pivots);              \
  }
#define KM_GTSV2_BOTH(L, T)   \
  KM_GTSV2(L, T, gtsv2, true) \
  KM_GTSV2(L, T, gtsv2_nopivot, false)
KM_FOR_ALL_TYPES(KM_GTSV2_BOTH)

#define KM_GTSV2_BATCH(L, T)                                                                       \
  cusparseStatus_t cusparse##L##gtsv2StridedBatch_bufferSizeExt(                                   \
      cusparseHandle_t handle, int m, const T*, const T*, const T*, const T*, int count,           \
      int stride, size_t* size) {                                                                  \
    return give_size(handle, {m, count, stride}, size, "bufferSizeInBytes");                       \
  }                                                                                                \
  cusparseStatus_t cusparse##L##gtsv2StridedBatch(cusparseHandle_t handle, int m, const T* dl,     \
                                                  const T* d, const T* du, T* x, int count,        \
                                                  int stride, void*) {                             \
    return solve_strided(handle, kExportType<T>, m, {dl, d, du}, x, count, stride);                \
  }                                                                                                \
  cusparseStatus_t cusparse##L##gtsvInterleavedBatch_bufferSizeExt(                                \
      cusparseHandle_t handle, int, int m, const T*, const T*, const T*, const T*, int count,      \
      size_t* size) {                                                                              \
    return give_size(handle, {m, count}, size, "bufferSizeInBytes");                               \
  }                                                                                                \
  cusparseStatus_t cusparse##L##gtsvInterleavedBatch(cusparseHandle_t handle, int algo, int m,     \
                                                     T* dl, T* d, T* du, T* x, int count, void*) { \
    return solve_interleaved(handle, kExportType<T>, algo, m, Three{dl, d, du}, x, count);         \
  }                                                                                                \
  cusparseStatus_t cusparse##L##gpsvInterleavedBatch_bufferSizeExt(                                \
      cusparseHandle_t handle, int, int m, const T*, const T*, const T*, const T*, const T*,       \
      const T*, int count, size_t* size) {                                                         \
    return give_size(handle, {m, count}, size, "bufferSizeInBytes");                               \
  }                                                                                                \
  cusparseStatus_t cusparse##L##gpsvInterleavedBatch(cusparseHandle_t handle, int algo, int m,     \
                                                     T* ds, T* dl, T* d, T* du, T* dw, T* x,       \
                                                     int count, void*) {                           \
    return solve_interleaved(handle, kExportType<T>, algo, m, Five{ds, dl, d, du, dw}, x, count);  \
  }
KM_FOR_ALL_TYPES(KM_GTSV2_BATCH)

}  // extern "C"

}  // namespace km::cusparse
