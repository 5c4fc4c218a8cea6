// Conversions between CSR and BSR, whose blocks may have two sizes (gebsr).
#include "dropin/cusparse/legacy/blocks.h"
#include "dropin/cusparse/legacy/exports.h"
#include "dropin/cusparse/legacy/matrices.h"
#include "dropin/cusparse/legacy/structure.h"

namespace km::cusparse {
namespace {

/// The source of a conversion from CSR.
struct CsrSource {
  int rows, cols;
  cusparseMatDescr_t settings;
  IntArrays arrays;
};

cusparseStatus_t read_csr(const Handle& h, const CsrSource& source, cudaDataType type, SpMat* out) {
  MatDescr settings;
  LIB_TRY(check_sizes({source.rows, source.cols}));
  LIB_TRY(read_settings("descrA", source.settings, &settings));
  *out = csr_of(source.rows, source.cols, 0, settings, type, source.arrays);
  return set_capacity(h, *out);
}

/// The source of a conversion from blocks.
struct BsrSource {
  cusparseDirection_t direction;
  int rows, cols;
  cusparseMatDescr_t settings;
  IntArrays arrays;
  int row_block, col_block;
};

cusparseStatus_t read_blocks(const Handle& h, const BsrSource& source, cudaDataType type,
                             SpMat* out) {
  MatDescr settings;
  LIB_TRY(check_direction(source.direction));
  LIB_TRY(check_sizes({source.rows, source.cols}));
  LIB_TRY(read_settings("descrA", source.settings, &settings));
  if (source.row_block < 1 || source.col_block < 1) {
    return invalid("blocks of %d x %d", source.row_block, source.col_block);
  }
  *out = bsr_of(source.direction, source.rows, source.cols, 0, settings, type, source.arrays,
                source.row_block, source.col_block);
  return set_capacity(h, *out);
}

cusparseStatus_t csr_to_blocks(cusparseHandle_t handle, cudaDataType type, const CsrSource& source,
                               const BlockTarget& target,
                               const char* function = __builtin_FUNCTION()) {
  const auto body = [&](Handle& h) -> cusparseStatus_t {
    SpMat a;
    LIB_TRY(read_csr(h, source, type, &a));
    return make_blocks(h, "cusparseCsr2bsr", a, target);
  };
  return call(handle, body, function);
}

cusparseStatus_t count_csr_blocks(cusparseHandle_t handle, const CsrSource& source,
                                  const BlockTarget& target, int* total,
                                  const char* function = __builtin_FUNCTION()) {
  const auto body = [&](Handle& h) -> cusparseStatus_t {
    SpMat a;
    LIB_TRY(read_csr(h, source, CUDA_R_32F, &a));
    return count_blocks(h, "cusparseXcsr2bsrNnz", a, target, total);
  };
  return call(handle, body, function);
}

cusparseStatus_t blocks_to_csr(cusparseHandle_t handle, cudaDataType type, const BsrSource& source,
                               const BlockTarget& target,
                               const char* function = __builtin_FUNCTION()) {
  const auto body = [&](Handle& h) -> cusparseStatus_t {
    SpMat a;
    LIB_TRY(read_blocks(h, source, type, &a));
    return make_csr(h, "cusparseBsr2csr", a, target);
  };
  return call(handle, body, function);
}

cusparseStatus_t blocks_to_blocks(cusparseHandle_t handle, cudaDataType type,
                                  const BsrSource& source, int block_count,
                                  const BlockTarget& target,
                                  const char* function = __builtin_FUNCTION()) {
  const auto body = [&](Handle& h) -> cusparseStatus_t {
    SpMat a;
    LIB_TRY(check_sizes({block_count}));
    LIB_TRY(read_blocks(h, source, type, &a));
    a.nnz = int64_t{block_count} * a.row_block * a.col_block;
    return make_blocks(h, "cusparseGebsr2gebsr", a, target);
  };
  return call(handle, body, function);
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseXcsr2bsrNnz(cusparseHandle_t handle, cusparseDirection_t direction, int m,
                                     int n, const cusparseMatDescr_t settings_a, const int* offsets,
                                     const int* indices, int block,
                                     const cusparseMatDescr_t settings_c, int* bsr_offsets,
                                     int* total) {
  return count_csr_blocks(handle, {m, n, settings_a, {nullptr, offsets, indices}},
                          {direction, settings_c, nullptr, bsr_offsets, nullptr, block, block},
                          total);
}
cusparseStatus_t cusparseXcsr2gebsrNnz(cusparseHandle_t handle, cusparseDirection_t direction,
                                       int m, int n, const cusparseMatDescr_t settings_a,
                                       const int* offsets, const int* indices,
                                       const cusparseMatDescr_t settings_c, int* bsr_offsets,
                                       int row_block, int col_block, int* total, void*) {
  return count_csr_blocks(
      handle, {m, n, settings_a, {nullptr, offsets, indices}},
      {direction, settings_c, nullptr, bsr_offsets, nullptr, row_block, col_block}, total);
}
cusparseStatus_t cusparseXgebsr2gebsrNnz(cusparseHandle_t handle, cusparseDirection_t direction,
                                         int mb, int nb, int nnzb,
                                         const cusparseMatDescr_t settings_a, const int* offsets,
                                         const int* indices, int row_block_a, int col_block_a,
                                         const cusparseMatDescr_t settings_c, int* offsets_c,
                                         int row_block_c, int col_block_c, int* total, void*) {
  return call(handle, [&](Handle& h) -> cusparseStatus_t {
    SpMat a;
    LIB_TRY(check_sizes({nnzb}));
    LIB_TRY(read_blocks(
        h, {direction, mb, nb, settings_a, {nullptr, offsets, indices}, row_block_a, col_block_a},
        CUDA_R_32F, &a));
    a.nnz = int64_t{nnzb} * a.row_block * a.col_block;
    return count_blocks(
        h, "cusparseXgebsr2gebsrNnz", a,
        {direction, settings_c, nullptr, offsets_c, nullptr, row_block_c, col_block_c}, total);
  });
}

#define KM_CSR_TO_BLOCKS(L, T)                                                                   \
  cusparseStatus_t cusparse##L##csr2bsr(cusparseHandle_t handle, cusparseDirection_t direction,  \
                                        int m, int n, const cusparseMatDescr_t settings_a,       \
                                        const T* values, const int* offsets, const int* indices, \
                                        int block, const cusparseMatDescr_t settings_c,          \
                                        T* values_c, int* offsets_c, int* indices_c) {           \
    return csr_to_blocks(handle, kExportType<T>, {m, n, settings_a, {values, offsets, indices}}, \
                         {direction, settings_c, values_c, offsets_c, indices_c, block, block}); \
  }                                                                                              \
  cusparseStatus_t cusparse##L##csr2gebsr_bufferSize(                                            \
      cusparseHandle_t handle, cusparseDirection_t, int m, int n, const cusparseMatDescr_t,      \
      const T*, const int*, const int*, int row_block, int col_block, int* size) {               \
    return give_size(handle, {m, n, row_block, col_block}, size);                                \
  }                                                                                              \
  cusparseStatus_t cusparse##L##csr2gebsr(                                                       \
      cusparseHandle_t handle, cusparseDirection_t direction, int m, int n,                      \
      const cusparseMatDescr_t settings_a, const T* values, const int* offsets,                  \
      const int* indices, const cusparseMatDescr_t settings_c, T* values_c, int* offsets_c,      \
      int* indices_c, int row_block, int col_block, void*) {                                     \
    return csr_to_blocks(                                                                        \
        handle, kExportType<T>, {m, n, settings_a, {values, offsets, indices}},                  \
        {direction, settings_c, values_c, offsets_c, indices_c, row_block, col_block});          \
  }
KM_FOR_ALL_TYPES(KM_CSR_TO_BLOCKS)

#define KM_BLOCKS_TO_CSR(L, T)                                                                   \
  cusparseStatus_t cusparse##L##bsr2csr(cusparseHandle_t handle, cusparseDirection_t direction,  \
                                        int mb, int nb, const cusparseMatDescr_t settings_a,     \
                                        const T* values, const int* offsets, const int* indices, \
                                        int block, const cusparseMatDescr_t settings_c,          \
                                        T* values_c, int* offsets_c, int* indices_c) {           \
    return blocks_to_csr(                                                                        \
        handle, kExportType<T>,                                                                  \
        {direction, mb, nb, settings_a, {values, offsets, indices}, block, block},               \
        {direction, settings_c, values_c, offsets_c, indices_c, 1, 1});                          \
  }                                                                                              \
  cusparseStatus_t cusparse##L##gebsr2csr(                                                       \
      cusparseHandle_t handle, cusparseDirection_t direction, int mb, int nb,                    \
      const cusparseMatDescr_t settings_a, const T* values, const int* offsets,                  \
      const int* indices, int row_block, int col_block, const cusparseMatDescr_t settings_c,     \
      T* values_c, int* offsets_c, int* indices_c) {                                             \
    return blocks_to_csr(                                                                        \
        handle, kExportType<T>,                                                                  \
        {direction, mb, nb, settings_a, {values, offsets, indices}, row_block, col_block},       \
        {direction, settings_c, values_c, offsets_c, indices_c, 1, 1});                          \
  }
KM_FOR_ALL_TYPES(KM_BLOCKS_TO_CSR)

#define KM_BLOCKS_TO_BLOCKS(L, T)                                                                 \
  cusparseStatus_t cusparse##L##gebsr2gebsr_bufferSize(                                           \
      cusparseHandle_t handle, cusparseDirection_t, int mb, int nb, int nnzb,                     \
      const cusparseMatDescr_t, const T*, const int*, const int*, int row_block_a,                \
      int col_block_a, int row_block_c, int col_block_c, int* size) {                             \
    return give_size(handle, {mb, nb, nnzb, row_block_a, col_block_a, row_block_c, col_block_c},  \
                     size);                                                                       \
  }                                                                                               \
  cusparseStatus_t cusparse##L##gebsr2gebsr(                                                      \
      cusparseHandle_t handle, cusparseDirection_t direction, int mb, int nb, int nnzb,           \
      const cusparseMatDescr_t settings_a, const T* values, const int* offsets,                   \
      const int* indices, int row_block_a, int col_block_a, const cusparseMatDescr_t settings_c,  \
      T* values_c, int* offsets_c, int* indices_c, int row_block_c, int col_block_c, void*) {     \
    return blocks_to_blocks(                                                                      \
        handle, kExportType<T>,                                                                   \
        {direction, mb, nb, settings_a, {values, offsets, indices}, row_block_a, col_block_a},    \
        nnzb, {direction, settings_c, values_c, offsets_c, indices_c, row_block_c, col_block_c}); \
  }
KM_FOR_ALL_TYPES(KM_BLOCKS_TO_BLOCKS)

#define KM_GEBSR_TO_GEBSC(L, T)                                                                    \
  cusparseStatus_t cusparse##L##gebsr2gebsc_bufferSize(cusparseHandle_t handle, int mb, int nb,    \
                                                       int nnzb, const T*, const int*, const int*, \
                                                       int row_block, int col_block, int* size) {  \
    return give_size(handle, {mb, nb, nnzb, row_block, col_block}, size);                          \
  }                                                                                                \
  cusparseStatus_t cusparse##L##gebsr2gebsc(                                                       \
      cusparseHandle_t handle, int mb, int nb, int nnzb, const T* values, const int* offsets,      \
      const int* indices, int row_block, int col_block, T* values_c, int* indices_c,               \
      int* offsets_c, cusparseAction_t action, cusparseIndexBase_t base, void*) {                  \
    return call(handle, [&](Handle& h) {                                                           \
      return transpose_blocks(h, "cusparseGebsr2gebsc",                                            \
                              {mb,                                                                 \
                               nb,                                                                 \
                               nnzb,                                                               \
                               {values, offsets, indices},                                         \
                               values_c,                                                           \
                               offsets_c,                                                          \
                               indices_c,                                                          \
                               kExportType<T>,                                                     \
                               action,                                                             \
                               base},                                                              \
                              row_block, col_block);                                               \
    });                                                                                            \
  }
KM_FOR_ALL_TYPES(KM_GEBSR_TO_GEBSC)

}  // extern "C"

}  // namespace km::cusparse
