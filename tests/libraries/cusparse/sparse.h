/* Sparse matrices of random sizes, types and formats for the tests of cuSPARSE, with their elements
 * as a dense matrix of the widest numbers. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <complex.h>
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef _Complex long double wide;

enum {
  R_32F = 0,
  R_64F = 1,
  R_16F = 2,
  R_8I = 3,
  C_32F = 4,
  C_64F = 5,
  C_16F = 6,
  R_32I = 10,
  R_16BF = 14,
  C_16BF = 15
};
enum { CSR = 1, CSC = 2, COO = 3, BLOCKED_ELL = 5, BSR = 6, SLICED_ELL = 7 };
enum { BY_COLUMN = 1, BY_ROW = 2 };
enum { INDEX_32 = 2, INDEX_64 = 3 };
enum { SUCCESS, NOT_INITIALIZED, ALLOC_FAILED, INVALID_VALUE, EXECUTION_FAILED = 6 };
enum { ZERO_PIVOT = 9, NOT_SUPPORTED = 10 };
enum { MOST = 40 }; /* rows and columns */

int cusparseCreate(void**);
int cusparseDestroy(void*);
int cusparseSetStream(void*, void*);
int cusparseSetPointerMode(void*, int);
int cusparseCreateCsr(void**, int64_t, int64_t, int64_t, void*, void*, void*, int, int, int, int);
int cusparseCreateCsc(void**, int64_t, int64_t, int64_t, void*, void*, void*, int, int, int, int);
int cusparseCreateCoo(void**, int64_t, int64_t, int64_t, void*, void*, void*, int, int, int);
int cusparseCreateBsr(void**, int64_t, int64_t, int64_t, int64_t, int64_t, void*, void*, void*, int,
                      int, int, int, int);
int cusparseCreateBlockedEll(void**, int64_t, int64_t, int64_t, int64_t, void*, void*, int, int,
                             int);
int cusparseCreateSlicedEll(void**, int64_t, int64_t, int64_t, int64_t, int64_t, void*, void*,
                            void*, int, int, int, int);
int cusparseDestroySpMat(const void*);
int cusparseCreateDnMat(void**, int64_t, int64_t, int64_t, void*, int, int);
int cusparseDestroyDnMat(const void*);
int cusparseCreateDnVec(void**, int64_t, void*, int);
int cusparseDestroyDnVec(const void*);

static inline uint64_t* seed_place(void) {
  static uint64_t seed = 0x9e3779b97f4a7c15ULL;
  return &seed;
}
static inline uint64_t random_word(void) {
  uint64_t* const seed = seed_place();
  *seed ^= *seed << 13;
  *seed ^= *seed >> 7;
  *seed ^= *seed << 17;
  return *seed;
}
static inline int below(int count) { return (int)(random_word() % (uint64_t)count); }
/* The number of random cases: SPARSE_CASES, or a few. */
static inline int case_count(int few) {
  const char* const text = getenv("SPARSE_CASES");
  return text == NULL ? few : atoi(text);
}

static inline size_t bytes_of(int type) {
  switch (type) {
    case R_8I:
      return 1;
    case R_16F:
    case R_16BF:
      return 2;
    case R_64F:
    case C_32F:
      return 8;
    case C_64F:
      return 16;
    default:
      return 4;
  }
}
static inline int is_complex(int type) {
  return type == C_32F || type == C_64F || type == C_16F || type == C_16BF;
}
static inline int part_of(int type) {
  return type == C_32F ? R_32F : type == C_64F ? R_64F : type == C_16F ? R_16F : R_16BF;
}
/* Twice the relative error of one rounding. */
static inline long double unit_of(int type) {
  const int part = is_complex(type) ? part_of(type) : type;
  return part == R_16F ? 0x1p-10L : part == R_16BF ? 0x1p-7L : part == R_32F ? 0x1p-23L : 0x1p-52L;
}

static inline float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static inline uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
static inline long double half_value(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const long double size =
      exponent == 0 ? ldexpl(fraction, -24) : ldexpl(fraction + 1024, exponent - 25);
  return bits >> 15 ? -size : size;
}
/* Only numbers that f16 has exactly. */
static inline uint16_t half_bits(long double value) {
  if (value == 0) return 0;
  int exponent = 0;
  const long double fraction = frexpl(fabsl(value), &exponent);
  return (uint16_t)((value < 0) << 15 | (exponent + 14) << 10 | ((int)ldexpl(fraction, 11) & 1023));
}

static inline long double get_part(int type, const void* array, size_t i) {
  switch (type) {
    case R_32F:
      return ((const float*)array)[i];
    case R_64F:
      return ((const double*)array)[i];
    case R_16F:
      return half_value(((const uint16_t*)array)[i]);
    case R_16BF:
      return float_of((uint32_t)((const uint16_t*)array)[i] << 16);
    case R_8I:
      return ((const int8_t*)array)[i];
    default:
      return ((const int32_t*)array)[i];
  }
}
static inline void set_part(int type, void* array, size_t i, long double value) {
  switch (type) {
    case R_32F:
      ((float*)array)[i] = (float)value;
      break;
    case R_64F:
      ((double*)array)[i] = (double)value;
      break;
    case R_16F:
      ((uint16_t*)array)[i] = half_bits(value);
      break;
    case R_16BF:
      ((uint16_t*)array)[i] = (uint16_t)(bits_of((float)value) >> 16);
      break;
    case R_8I:
      ((int8_t*)array)[i] = (int8_t)value;
      break;
    default:
      ((int32_t*)array)[i] = (int32_t)value;
  }
}
static inline wide get(int type, const void* array, int64_t i) {
  if (!is_complex(type)) return get_part(type, array, (size_t)i);
  const int part = part_of(type);
  return get_part(part, array, 2 * (size_t)i) + get_part(part, array, 2 * (size_t)i + 1) * I;
}
static inline void set(int type, void* array, int64_t i, wide value) {
  if (!is_complex(type)) {
    set_part(type, array, (size_t)i, creall(value));
    return;
  }
  set_part(part_of(type), array, 2 * (size_t)i, creall(value));
  set_part(part_of(type), array, 2 * (size_t)i + 1, cimagl(value));
}
/* A number that all types have exactly; never zero. */
static inline wide random_value(int type) {
  const long double unit = type == R_8I || type == R_32I ? 1 : 0.25L;
  const long double re = (below(2) ? 1 : -1) * (1 + below(9)) * unit;
  return is_complex(type) ? re + (below(17) - 8) * unit * I : re;
}
static inline wide operated(int operation, wide value) {
  return operation == 2 ? conjl(value) : value;
}

static inline void* managed(size_t bytes) {
  void* memory = NULL;
  assert_int_equal(cudaMallocManaged(&memory, bytes + 16, cudaMemAttachGlobal), 0);
  memset(memory, 0xee, bytes + 16);
  return memory;
}

typedef struct {
  int format, type, base, offsets_type, indices_type;
  int rows, cols, row_block, col_block, ell_cols, order;
  int64_t nnz, padded;
  void *offsets, *indices, *values;
  wide dense[MOST * MOST]; /* by rows */
  void* descriptor;
} sparse_matrix;

static inline void put_index(int type, void* array, int64_t i, int64_t value) {
  if (type == INDEX_64) {
    ((int64_t*)array)[i] = value;
  } else {
    ((int32_t*)array)[i] = (int32_t)value;
  }
}
static inline int64_t get_index(int type, const void* array, int64_t i) {
  return type == INDEX_64 ? ((const int64_t*)array)[i] : ((const int32_t*)array)[i];
}
static inline void put_offset(sparse_matrix* m, int64_t i, int64_t value) {
  put_index(m->offsets_type, m->offsets, i, value + m->base);
}
static inline void put_column(sparse_matrix* m, int64_t i, int64_t value) {
  put_index(m->indices_type, m->indices, i, value + m->base);
}

/* The entries line by line: rows, or columns for CSC. */
static inline void fill_lines(sparse_matrix* m) {
  const int is_csc = m->format == CSC;
  const int lines = is_csc ? m->cols : m->rows, width = is_csc ? m->rows : m->cols;
  int64_t k = 0;
  for (int line = 0; line < lines; ++line) {
    if (m->format != COO) put_offset(m, line, k);
    for (int i = 0; i < width; ++i) {
      const wide value = is_csc ? m->dense[i * m->cols + line] : m->dense[line * m->cols + i];
      if (value == 0) continue;
      if (m->format == COO) put_offset(m, k, line);
      put_column(m, k, i);
      set(m->type, m->values, k++, value);
    }
  }
  if (m->format != COO) put_offset(m, lines, k);
  m->nnz = k;
}

static inline int has_block(const sparse_matrix* m, int line, int col) {
  for (int i = 0; i < m->row_block; ++i) {
    for (int j = 0; j < m->col_block; ++j) {
      if (m->dense[(line * m->row_block + i) * m->cols + col * m->col_block + j] != 0) return 1;
    }
  }
  return 0;
}

static inline void fill_bsr(sparse_matrix* m) {
  const int rb = m->row_block, cb = m->col_block;
  int64_t k = 0;
  for (int line = 0; line < m->rows / rb; ++line) {
    put_offset(m, line, k);
    for (int col = 0; col < m->cols / cb; ++col) {
      if (!has_block(m, line, col)) continue;
      put_column(m, k, col);
      for (int i = 0; i < rb * cb; ++i) {
        const int row_in = m->order == BY_ROW ? i / cb : i % rb;
        const int col_in = m->order == BY_ROW ? i % cb : i / rb;
        set(m->type, m->values, k * rb * cb + i,
            m->dense[(line * rb + row_in) * m->cols + col * cb + col_in]);
      }
      ++k;
    }
  }
  put_offset(m, m->rows / rb, k);
  m->nnz = k;
}

static inline void fill_blocked_ell(sparse_matrix* m) {
  const int block = m->row_block, width = m->cols / block;
  m->ell_cols = m->cols;
  for (int line = 0; line < m->rows / block; ++line) {
    int k = 0;
    for (int col = 0; col < width; ++col) {
      if (!has_block(m, line, col)) continue;
      put_column(m, line * width + k, col);
      for (int i = 0; i < block * block; ++i) {
        set(m->type, m->values,
            (int64_t)(line * block + i / block) * m->ell_cols + k * block + i % block,
            m->dense[(line * block + i / block) * m->cols + col * block + i % block]);
      }
      ++k;
    }
    for (; k < width; ++k) {
      put_index(m->indices_type, m->indices, line * width + k, -1);
      for (int i = 0; i < block * block; ++i) {
        set(m->type, m->values,
            (int64_t)(line * block + i / block) * m->ell_cols + k * block + i % block, 7);
      }
    }
  }
}

/* The number of elements of a row; there are none after the last row. */
static inline int64_t row_count(const sparse_matrix* m, int row) {
  int64_t count = 0;
  for (int col = 0; row < m->rows && col < m->cols; ++col) {
    count += m->dense[row * m->cols + col] != 0;
  }
  return count;
}

/* One row of a slice that begins at `at`; the rest of its places is padding. */
static inline void fill_slice_row(sparse_matrix* m, int64_t at, int64_t width, int row) {
  const int slice = m->row_block;
  int64_t place = at + row % slice;
  for (int col = 0; row < m->rows && col < m->cols; ++col) {
    const wide value = m->dense[row * m->cols + col];
    if (value == 0) continue;
    put_column(m, place, col);
    set(m->type, m->values, place, value);
    place += slice;
  }
  for (; place < at + width * slice; place += slice) {
    put_index(m->indices_type, m->indices, place, -1);
    set(m->type, m->values, place, 7);
  }
}

static inline void fill_sliced_ell(sparse_matrix* m) {
  const int slice = m->row_block, slices = (m->rows + slice - 1) / slice;
  int64_t at = 0;
  m->nnz = 0;
  for (int s = 0; s < slices; ++s) {
    put_offset(m, s, at);
    int64_t width = 0;
    for (int row = s * slice; row < (s + 1) * slice; ++row) {
      const int64_t count = row_count(m, row);
      m->nnz += count;
      if (count > width) width = count;
    }
    for (int row = s * slice; row < (s + 1) * slice; ++row) fill_slice_row(m, at, width, row);
    at += width * slice;
  }
  put_offset(m, slices, at);
  m->padded = at;
}

static inline int describe(sparse_matrix* m) {
  switch (m->format) {
    case CSR:
      return cusparseCreateCsr(&m->descriptor, m->rows, m->cols, m->nnz, m->offsets, m->indices,
                               m->values, m->offsets_type, m->indices_type, m->base, m->type);
    case CSC:
      return cusparseCreateCsc(&m->descriptor, m->rows, m->cols, m->nnz, m->offsets, m->indices,
                               m->values, m->offsets_type, m->indices_type, m->base, m->type);
    case COO:
      return cusparseCreateCoo(&m->descriptor, m->rows, m->cols, m->nnz, m->offsets, m->indices,
                               m->values, m->indices_type, m->base, m->type);
    case BSR:
      return cusparseCreateBsr(&m->descriptor, m->rows / m->row_block, m->cols / m->col_block,
                               m->nnz, m->row_block, m->col_block, m->offsets, m->indices,
                               m->values, m->offsets_type, m->indices_type, m->base, m->type,
                               m->order);
    case BLOCKED_ELL:
      return cusparseCreateBlockedEll(&m->descriptor, m->rows, m->cols, m->row_block, m->ell_cols,
                                      m->indices, m->values, m->indices_type, m->base, m->type);
    default:
      return cusparseCreateSlicedEll(&m->descriptor, m->rows, m->cols, m->nnz, m->padded,
                                     m->row_block, m->offsets, m->indices, m->values,
                                     m->offsets_type, m->indices_type, m->base, m->type);
  }
}

/* Puts the dense elements into the matrix's format. */
static inline void build(sparse_matrix* m) {
  switch (m->format) {
    case BSR:
      fill_bsr(m);
      break;
    case BLOCKED_ELL:
      fill_blocked_ell(m);
      break;
    case SLICED_ELL:
      fill_sliced_ell(m);
      break;
    default:
      fill_lines(m);
  }
  assert_int_equal(describe(m), SUCCESS);
}

static inline int random_format(void) {
  static const int formats[] = {CSR, CSC, COO, BLOCKED_ELL, BSR, SLICED_ELL, CSR};
  return formats[below(7)];
}

/* Random sizes, a whole number of blocks, and types of indices. */
static inline sparse_matrix* new_matrix(int format, int type) {
  sparse_matrix* const m = calloc(1, sizeof *m);
  m->format = format;
  m->type = type;
  m->base = below(2);
  m->offsets_type = INDEX_32 + below(2);
  m->indices_type = INDEX_32 + below(2);
  if (format == COO) m->offsets_type = m->indices_type;
  m->order = BY_COLUMN + below(2);
  m->row_block = m->col_block = 1;
  if (format == BSR || format == BLOCKED_ELL || format == SLICED_ELL) m->row_block = 1 + below(5);
  if (format == BLOCKED_ELL) m->col_block = m->row_block;
  if (format == BSR) m->col_block = 1 + below(5);
  m->rows = m->row_block * (1 + below(MOST / m->row_block));
  m->cols = m->col_block * (1 + below(MOST / m->col_block));
  if (format == SLICED_ELL) m->rows = 1 + below(MOST);
  m->offsets = managed(8 * (MOST * MOST + 1));
  m->indices = managed(8 * MOST * MOST * 6);
  m->values = managed(16 * MOST * MOST * 6);
  return m;
}
static inline void fill_randomly(sparse_matrix* m) {
  const int density = 1 + below(12);
  for (int i = 0; i < m->rows * m->cols; ++i) {
    m->dense[i] = below(12) < density ? random_value(m->type) : 0;
  }
}
static inline sparse_matrix* random_matrix(int format, int type) {
  sparse_matrix* const m = new_matrix(format, type);
  fill_randomly(m);
  build(m);
  return m;
}
static inline void free_matrix(sparse_matrix* m) {
  assert_int_equal(cusparseDestroySpMat(m->descriptor), SUCCESS);
  cudaFree(m->offsets), cudaFree(m->indices), cudaFree(m->values);
  free(m);
}
/* op(A) at a row and column. */
static inline wide element_of(const sparse_matrix* m, int operation, int row, int col) {
  return operation == 0 ? m->dense[row * m->cols + col]
                        : operated(operation, m->dense[col * m->cols + row]);
}

/* A dense matrix, or a batch of them. */
typedef struct {
  int rows, cols, ld, order, type, batch;
  int64_t stride;
  void* values;
  void* descriptor;
} dense_matrix;

static inline int64_t place_of(const dense_matrix* m, int batch, int row, int col) {
  const int64_t at = m->order == BY_ROW ? (int64_t)row * m->ld + col : (int64_t)col * m->ld + row;
  return batch * m->stride + at;
}
static inline dense_matrix new_dense(int rows, int cols, int type, int batch) {
  dense_matrix m = {rows, cols, 0, BY_COLUMN + below(2), type, batch, 0, NULL, NULL};
  m.ld = (m.order == BY_ROW ? cols : rows) + below(3);
  m.stride = (int64_t)m.ld * (m.order == BY_ROW ? rows : cols) + below(3);
  const int64_t count = m.stride * batch + 4;
  m.values = managed(bytes_of(type) * (size_t)count);
  for (int64_t i = 0; i < count; ++i) set(type, m.values, i, random_value(type));
  assert_int_equal(cusparseCreateDnMat(&m.descriptor, rows, cols, m.ld, m.values, type, m.order),
                   SUCCESS);
  return m;
}
static inline void free_dense(dense_matrix* m) {
  assert_int_equal(cusparseDestroyDnMat(m->descriptor), SUCCESS);
  cudaFree(m->values);
}
static inline wide dense_element(const dense_matrix* m, int operation, int batch, int row,
                                 int col) {
  const int r = operation == 0 ? row : col, c = operation == 0 ? col : row;
  return operated(operation, get(m->type, m->values, place_of(m, batch, r, c)));
}

/* A scalar of the type, in host memory or, with device pointers, in memory of the device. */
static inline void* scalar(int type, wide value) {
  void* const place = managed(16);
  set(type, place, 0, value);
  return place;
}

/* True if a result is near: `size` is the sum of the magnitudes that were added. */
static inline int is_near(int type, int sum_type, wide result, wide expected, long double size) {
  if (type == R_32I) return result == expected;
  const long double error =
      unit_of(type) * (cabsl(expected) + 0x1p-14L) + 64 * unit_of(sum_type) * (size + 0x1p-14L);
  return cabsl(result - expected) <= error;
}

/* A stream whose work is captured, or not. */
typedef struct {
  cudaStream_t stream;
  int is_captured;
} order;
static inline order begin(void* handle) {
  order made = {NULL, below(3) == 0};
  assert_int_equal(cudaStreamCreate(&made.stream), 0);
  assert_int_equal(cusparseSetStream(handle, made.stream), SUCCESS);
  if (made.is_captured) {
    assert_int_equal(cudaStreamBeginCapture(made.stream, cudaStreamCaptureModeThreadLocal), 0);
  }
  return made;
}
static inline void end(void* handle, order made) {
  if (made.is_captured) {
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    assert_int_equal(cudaStreamEndCapture(made.stream, &graph), 0);
    assert_int_equal(cudaGraphInstantiate(&exec, graph, 0), 0);
    assert_int_equal(cudaGraphLaunch(exec, made.stream), 0);
    assert_int_equal(cudaStreamSynchronize(made.stream), 0);
    cudaGraphExecDestroy(exec), cudaGraphDestroy(graph);
  }
  assert_int_equal(cudaStreamSynchronize(made.stream), 0);
  assert_int_equal(cusparseSetStream(handle, NULL), SUCCESS);
  cudaStreamDestroy(made.stream);
}
