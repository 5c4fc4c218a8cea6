/* Functions of cuSPARSE for CSR and BSR with 32-bit indices, against plain loops. */
#include "sparse.h"

int cusparseCreateMatDescr(void**);
int cusparseDestroyMatDescr(void*);
int cusparseSetMatIndexBase(void*, int);
int cusparseXcoo2csr(void*, const int*, int, int, int*, int);
int cusparseXcsr2coo(void*, const int*, int, int, int*, int);
int cusparseCreateIdentityPermutation(void*, int, int*);
int cusparseXcoosortByRow(void*, int, int, int, int*, int*, int*, void*);
int cusparseXcoosortByColumn(void*, int, int, int, int*, int*, int*, void*);
int cusparseXcsrsort(void*, int, int, int, void*, const int*, int*, int*, void*);
int cusparseCsr2cscEx2(void*, int, int, int, const void*, const int*, const int*, void*, int*, int*,
                       int, int, int, int, void*);
int cusparseXcsr2bsrNnz(void*, int, int, int, void*, const int*, const int*, int, void*, int*,
                        int*);
int cusparseXcsr2gebsrNnz(void*, int, int, int, void*, const int*, const int*, void*, int*, int,
                          int, int*, void*);
int cusparseXgebsr2gebsrNnz(void*, int, int, int, int, void*, const int*, const int*, int, int,
                            void*, int*, int, int, int*, void*);
int cusparseXcsrgeam2Nnz(void*, int, int, void*, int, const int*, const int*, void*, int,
                         const int*, const int*, void*, int*, int*, void*);
int cusparseCreateCsru2csrInfo(void**);
int cusparseDestroyCsru2csrInfo(void*);
int cusparseCreateColorInfo(void**);
int cusparseDestroyColorInfo(void*);
int cusparseCreatePruneInfo(void**);
int cusparseDestroyPruneInfo(void*);
int cusparseDcsrcolor(void*, int, int, void*, const void*, const int*, const int*, const double*,
                      int*, int*, int*, void*);
int cusparseDpruneDense2csrNnz(void*, int, int, const void*, int, const double*, void*, int*, int*,
                               void*);
int cusparseDpruneDense2csr(void*, int, int, const void*, int, const double*, void*, void*,
                            const int*, int*, void*);
int cusparseDpruneCsr2csrNnzByPercentage(void*, int, int, int, void*, const void*, const int*,
                                         const int*, float, void*, int*, int*, void*, void*);
int cusparseDpruneCsr2csrByPercentage(void*, int, int, int, void*, const void*, const int*,
                                      const int*, float, void*, void*, const int*, int*, void*,
                                      void*);
int cusparseDnnz_compress(void*, int, void*, const void*, const int*, int*, int*, double);
int cusparseDcsr2csr_compress(void*, int, int, void*, const void*, const int*, const int*, int,
                              const int*, void*, int*, int*, double);

/* The variants of functions, by type. */
#define DECLARE(name, ...)                                                                      \
  int cusparseS##name(__VA_ARGS__), cusparseD##name(__VA_ARGS__), cusparseC##name(__VA_ARGS__), \
      cusparseZ##name(__VA_ARGS__);                                                             \
  static int (*const name[])(__VA_ARGS__) = {cusparseS##name, cusparseD##name, cusparseC##name, \
                                             cusparseZ##name}
DECLARE(gtsv2, void*, int, int, const void*, const void*, const void*, void*, int, void*);
DECLARE(gtsv2_nopivot, void*, int, int, const void*, const void*, const void*, void*, int, void*);
DECLARE(gtsv2StridedBatch, void*, int, const void*, const void*, const void*, void*, int, int,
        void*);
DECLARE(gtsvInterleavedBatch, void*, int, int, void*, void*, void*, void*, int, void*);
DECLARE(gpsvInterleavedBatch, void*, int, int, void*, void*, void*, void*, void*, void*, int,
        void*);
DECLARE(csr2bsr, void*, int, int, int, void*, const void*, const int*, const int*, int, void*,
        void*, int*, int*);
DECLARE(bsr2csr, void*, int, int, int, void*, const void*, const int*, const int*, int, void*,
        void*, int*, int*);
DECLARE(csr2gebsr, void*, int, int, int, void*, const void*, const int*, const int*, void*, void*,
        int*, int*, int, int, void*);
DECLARE(gebsr2gebsr, void*, int, int, int, int, void*, const void*, const int*, const int*, int,
        int, void*, void*, int*, int*, int, int, void*);
DECLARE(gebsr2csr, void*, int, int, int, void*, const void*, const int*, const int*, int, int,
        void*, void*, int*, int*);
DECLARE(csrgeam2, void*, int, int, const void*, void*, int, const void*, const int*, const int*,
        const void*, void*, int, const void*, const int*, const int*, void*, void*, int*, int*,
        void*);
DECLARE(nnz, void*, int, int, int, void*, const void*, int, int*, int*);
DECLARE(csru2csr, void*, int, int, int, void*, void*, const int*, int*, void*, void*);
DECLARE(csr2csru, void*, int, int, int, void*, void*, const int*, int*, void*, void*);
DECLARE(gemvi, void*, int, int, int, const void*, const void*, int, int, const void*, const int*,
        const void*, void*, int, void*);

static const int floats[] = {R_32F, R_64F, C_32F, C_64F};
static void* handle;

/* A CSR matrix with the settings that go with it. */
typedef struct {
  sparse_matrix* m;
  int *offsets, *indices;
  void* settings;
} csr;

static void* settings_of(int base) {
  void* settings = NULL;
  assert_int_equal(cusparseCreateMatDescr(&settings), SUCCESS);
  assert_int_equal(cusparseSetMatIndexBase(settings, base), SUCCESS);
  return settings;
}
static csr new_csr(int type, int rows, int cols) {
  csr a = {new_matrix(CSR, type), NULL, NULL, NULL};
  a.m->offsets_type = a.m->indices_type = INDEX_32;
  if (rows != 0) a.m->rows = rows, a.m->cols = cols;
  a.offsets = a.m->offsets, a.indices = a.m->indices;
  a.settings = settings_of(a.m->base);
  return a;
}
static csr random_csr(int type, int rows, int cols) {
  csr a = new_csr(type, rows, cols);
  fill_randomly(a.m);
  build(a.m);
  return a;
}
static void free_csr(csr a) {
  assert_int_equal(cusparseDestroyMatDescr(a.settings), SUCCESS);
  free_matrix(a.m);
}
static void wait(void) { assert_int_equal(cudaDeviceSynchronize(), 0); }

/* The elements of what a function has written as CSR. */
static void read_csr(const csr* c, int rows, int cols, wide* dense) {
  wait();
  memset(dense, 0, sizeof(wide) * MOST * MOST);
  for (int row = 0; row < rows; ++row) {
    for (int k = c->offsets[row] - c->m->base; k < c->offsets[row + 1] - c->m->base; ++k) {
      const int col = c->indices[k] - c->m->base;
      assert_true(col >= 0 && (col < cols || get(c->m->type, c->m->values, k) == 0));
      if (col < cols) dense[row * cols + col] = get(c->m->type, c->m->values, k);
    }
  }
}

static void offsets_and_indices(void** state) {
  (void)state;
  for (int i = case_count(50); i-- > 0;) {
    csr a = random_csr(R_64F, 0, 0);
    int *const rows = managed(4 * MOST * MOST), *const again = managed(4 * MOST * MOST);
    const order made = begin(handle);
    assert_int_equal(cusparseXcsr2coo(handle, a.offsets, (int)a.m->nnz, a.m->rows, rows, a.m->base),
                     SUCCESS);
    assert_int_equal(cusparseXcoo2csr(handle, rows, (int)a.m->nnz, a.m->rows, again, a.m->base),
                     SUCCESS);
    end(handle, made);
    assert_memory_equal(again, a.offsets, 4 * (size_t)(a.m->rows + 1));
    cudaFree(rows), cudaFree(again);
    free_csr(a);
  }
}

static void coordinates_are_sorted(void** state) {
  (void)state;
  for (int i = case_count(50); i-- > 0;) {
    const int count = 1 + below(500), by_column = below(2);
    int *const rows = managed(4 * 500), *const cols = managed(4 * 500), *const p = managed(4 * 500);
    int old_rows[500], old_cols[500];
    for (int k = 0; k < count; ++k)
      rows[k] = old_rows[k] = below(20), cols[k] = old_cols[k] = below(20);
    const order made = begin(handle);
    assert_int_equal(cusparseCreateIdentityPermutation(handle, count, p), SUCCESS);
    assert_int_equal((by_column ? cusparseXcoosortByColumn : cusparseXcoosortByRow)(
                         handle, 20, 20, count, rows, cols, p, NULL),
                     SUCCESS);
    end(handle, made);
    for (int k = 0; k < count; ++k) {
      assert_int_equal(rows[k], old_rows[p[k]]);
      assert_int_equal(cols[k], old_cols[p[k]]);
      if (k == 0) continue;
      const int key = by_column ? cols[k] * 20 + rows[k] : rows[k] * 20 + cols[k];
      const int last = by_column ? cols[k - 1] * 20 + rows[k - 1] : rows[k - 1] * 20 + cols[k - 1];
      assert_true(last < key || (last == key && p[k - 1] < p[k]));
    }
    cudaFree(rows), cudaFree(cols), cudaFree(p);
  }
}

/* Exchanges entries inside rows. */
static void shuffle(csr* a) {
  for (int row = 0; row < a->m->rows; ++row) {
    const int first = a->offsets[row] - a->m->base, last = a->offsets[row + 1] - a->m->base;
    for (int k = first; k < last; ++k) {
      const int other = first + below(last - first), col = a->indices[k];
      const wide value = get(a->m->type, a->m->values, k);
      a->indices[k] = a->indices[other], a->indices[other] = col;
      set(a->m->type, a->m->values, k, get(a->m->type, a->m->values, other));
      set(a->m->type, a->m->values, other, value);
    }
  }
}

static void rows_are_sorted(void** state) {
  (void)state;
  for (int i = case_count(50); i-- > 0;) {
    const int t = below(4);
    csr a = random_csr(floats[t], 0, 0);
    const size_t bytes = bytes_of(floats[t]) * (size_t)a.m->nnz;
    int *const p = managed(4 * MOST * MOST), *const shuffled = malloc(4 * MOST * MOST);
    void *const values = malloc(16 * MOST * MOST), *info;
    shuffle(&a);
    memcpy(shuffled, a.indices, 4 * (size_t)a.m->nnz), memcpy(values, a.m->values, bytes);
    assert_int_equal(cusparseCreateCsru2csrInfo(&info), SUCCESS);
    const order made = begin(handle);
    assert_int_equal(csru2csr[t](handle, a.m->rows, a.m->cols, (int)a.m->nnz, a.settings,
                                 a.m->values, a.offsets, a.indices, info, NULL),
                     SUCCESS);
    end(handle, made);
    wide dense[MOST * MOST];
    read_csr(&a, a.m->rows, a.m->cols, dense);
    for (int k = 0; k < a.m->rows * a.m->cols; ++k) assert_true(dense[k] == a.m->dense[k]);
    assert_int_equal(csr2csru[t](handle, a.m->rows, a.m->cols, (int)a.m->nnz, a.settings,
                                 a.m->values, a.offsets, a.indices, info, NULL),
                     SUCCESS);
    wait();
    assert_memory_equal(a.indices, shuffled, 4 * (size_t)a.m->nnz);
    assert_memory_equal(a.m->values, values, bytes);
    for (int k = 0; k < a.m->nnz; ++k) p[k] = k;
    assert_int_equal(cusparseXcsrsort(handle, a.m->rows, a.m->cols, (int)a.m->nnz, a.settings,
                                      a.offsets, a.indices, p, NULL),
                     SUCCESS);
    wait();
    for (int k = 0; k < a.m->nnz; ++k) assert_int_equal(a.indices[k], shuffled[p[k]]);
    for (int row = 0; row < a.m->rows; ++row) {
      for (int k = a.offsets[row] - a.m->base + 1; k < a.offsets[row + 1] - a.m->base; ++k) {
        assert_true(a.indices[k - 1] < a.indices[k]);
      }
    }
    assert_int_equal(cusparseDestroyCsru2csrInfo(info), SUCCESS);
    cudaFree(p), free(shuffled), free(values);
    free_csr(a);
  }
}

static void csr_becomes_csc(void** state) {
  (void)state;
  for (int i = case_count(50); i-- > 0;) {
    const int type = floats[below(4)];
    csr a = random_csr(type, 0, 0), b = new_csr(type, a.m->cols, a.m->rows);
    b.m->base = a.m->base;
    const order made = begin(handle);
    assert_int_equal(cusparseCsr2cscEx2(handle, a.m->rows, a.m->cols, (int)a.m->nnz, a.m->values,
                                        a.offsets, a.indices, b.m->values, b.offsets, b.indices,
                                        type, 1, a.m->base, 1, NULL),
                     SUCCESS);
    end(handle, made);
    wide dense[MOST * MOST];
    read_csr(&b, b.m->rows, b.m->cols, dense);
    for (int k = 0; k < a.m->rows * a.m->cols; ++k) {
      assert_true(dense[k % a.m->cols * a.m->rows + k / a.m->cols] == a.m->dense[k]);
    }
    assert_int_equal(describe(b.m), SUCCESS);
    free_csr(a), free_csr(b);
  }
}

/* CSR, blocks, blocks of another size, and CSR again. */
static void blocks_case(void) {
  const int t = below(4), direction = below(2), rb = 1 + below(5), cb = 1 + below(5);
  const int rc = 1 + below(5), cc = 1 + below(5);
  csr a = random_csr(floats[t], 0, 0), b = new_csr(floats[t], MOST, MOST);
  csr c = new_csr(floats[t], MOST, MOST), d = new_csr(floats[t], MOST, MOST);
  const int mb = (a.m->rows + rb - 1) / rb, nb = (a.m->cols + cb - 1) / cb;
  const int mc = (mb * rb + rc - 1) / rc, nc = (nb * cb + cc - 1) / cc;
  int *const total = managed(4), count;
  const int on_device = below(2);
  assert_int_equal(cusparseSetPointerMode(handle, on_device), SUCCESS);
  assert_int_equal(
      cusparseXcsr2gebsrNnz(handle, direction, a.m->rows, a.m->cols, a.settings, a.offsets,
                            a.indices, b.settings, b.offsets, rb, cb, total, NULL),
      SUCCESS);
  wait();
  count = *total;
  assert_int_equal(count, b.offsets[mb] - b.m->base);
  assert_int_equal(
      csr2gebsr[t](handle, direction, a.m->rows, a.m->cols, a.settings, a.m->values, a.offsets,
                   a.indices, b.settings, b.m->values, b.offsets, b.indices, rb, cb, NULL),
      SUCCESS);
  assert_int_equal(
      cusparseXgebsr2gebsrNnz(handle, direction, mb, nb, count, b.settings, b.offsets, b.indices,
                              rb, cb, c.settings, c.offsets, rc, cc, total, NULL),
      SUCCESS);
  assert_int_equal(gebsr2gebsr[t](handle, direction, mb, nb, count, b.settings, b.m->values,
                                  b.offsets, b.indices, rb, cb, c.settings, c.m->values, c.offsets,
                                  c.indices, rc, cc, NULL),
                   SUCCESS);
  assert_int_equal(gebsr2csr[t](handle, direction, mc, nc, c.settings, c.m->values, c.offsets,
                                c.indices, rc, cc, d.settings, d.m->values, d.offsets, d.indices),
                   SUCCESS);
  wide dense[MOST * MOST];
  read_csr(&d, a.m->rows, a.m->cols, dense);
  for (int k = 0; k < a.m->rows * a.m->cols; ++k) assert_true(dense[k] == a.m->dense[k]);
  cudaFree(total);
  for (int i = 0; i < 3; ++i) assert_int_equal(describe((csr[]){b, c, d}[i].m), SUCCESS);
  free_csr(a), free_csr(b), free_csr(c), free_csr(d);
}
static void square_blocks_case(void) {
  const int t = below(4), direction = below(2), block = 1 + below(6);
  csr a = random_csr(floats[t], 0, 0), b = new_csr(floats[t], MOST, MOST);
  csr c = new_csr(floats[t], MOST, MOST);
  const int mb = (a.m->rows + block - 1) / block, nb = (a.m->cols + block - 1) / block;
  assert_int_equal(cusparseSetPointerMode(handle, 0), SUCCESS);
  int count = -1;
  assert_int_equal(cusparseXcsr2bsrNnz(handle, direction, a.m->rows, a.m->cols, a.settings,
                                       a.offsets, a.indices, block, b.settings, b.offsets, &count),
                   SUCCESS);
  const order made = begin(handle);
  assert_int_equal(
      csr2bsr[t](handle, direction, a.m->rows, a.m->cols, a.settings, a.m->values, a.offsets,
                 a.indices, block, b.settings, b.m->values, b.offsets, b.indices),
      SUCCESS);
  assert_int_equal(bsr2csr[t](handle, direction, mb, nb, b.settings, b.m->values, b.offsets,
                              b.indices, block, c.settings, c.m->values, c.offsets, c.indices),
                   SUCCESS);
  end(handle, made);
  assert_int_equal(c.offsets[mb * block] - c.m->base, count * block * block);
  wide dense[MOST * MOST];
  read_csr(&c, a.m->rows, a.m->cols, dense);
  for (int k = 0; k < a.m->rows * a.m->cols; ++k) assert_true(dense[k] == a.m->dense[k]);
  assert_int_equal(describe(b.m), SUCCESS), assert_int_equal(describe(c.m), SUCCESS);
  free_csr(a), free_csr(b), free_csr(c);
}
static void blocks_come_and_go(void** state) {
  (void)state;
  for (int i = case_count(50); i-- > 0;) blocks_case(), square_blocks_case();
}

static void sum_case(void) {
  const int t = below(4), type = floats[t];
  csr a = random_csr(type, 0, 0), b = random_csr(type, a.m->rows, a.m->cols);
  csr c = new_csr(type, a.m->rows, a.m->cols);
  const wide alpha = random_value(type), beta = random_value(type);
  void *const on_alpha = scalar(type, alpha), *const on_beta = scalar(type, beta);
  int count = -1;
  assert_int_equal(cusparseSetPointerMode(handle, 0), SUCCESS);
  assert_int_equal(cusparseXcsrgeam2Nnz(handle, a.m->rows, a.m->cols, a.settings, (int)a.m->nnz,
                                        a.offsets, a.indices, b.settings, (int)b.m->nnz, b.offsets,
                                        b.indices, c.settings, c.offsets, &count, NULL),
                   SUCCESS);
  const order made = begin(handle);
  assert_int_equal(
      csrgeam2[t](handle, a.m->rows, a.m->cols, on_alpha, a.settings, (int)a.m->nnz, a.m->values,
                  a.offsets, a.indices, on_beta, b.settings, (int)b.m->nnz, b.m->values, b.offsets,
                  b.indices, c.settings, c.m->values, c.offsets, c.indices, NULL),
      SUCCESS);
  end(handle, made);
  wide dense[MOST * MOST];
  read_csr(&c, a.m->rows, a.m->cols, dense);
  int expected_count = 0;
  for (int k = 0; k < a.m->rows * a.m->cols; ++k) {
    const wide sum = alpha * a.m->dense[k] + beta * b.m->dense[k];
    assert_true(is_near(type, type, dense[k], sum, 200));
    expected_count += a.m->dense[k] != 0 || b.m->dense[k] != 0;
  }
  assert_int_equal(count, expected_count);
  assert_int_equal(c.offsets[a.m->rows] - c.m->base, count);
  assert_int_equal(describe(c.m), SUCCESS);
  cudaFree(on_alpha), cudaFree(on_beta);
  free_csr(a), free_csr(b), free_csr(c);
}
static void sums_of_csr(void** state) {
  (void)state;
  for (int i = case_count(50); i-- > 0;) sum_case();
}

/* Diagonals of some systems, and right-hand sides; `width` diagonals are below the main one. */
typedef struct {
  void* diagonals[5];
  void* x;
  wide old[MOST * 8];
} bands;
static bands random_bands(int type, int count, int width) {
  bands s;
  for (int d = 0; d < 2 * width + 1; ++d) {
    s.diagonals[d] = managed(16 * (size_t)count);
    for (int i = 0; i < count; ++i) set(type, s.diagonals[d], i, random_value(type));
  }
  s.x = managed(16 * (size_t)count);
  for (int i = 0; i < count; ++i) {
    set(type, s.x, i, s.old[i] = random_value(type));
    /* Elimination in any order is stable. */
    set(type, s.diagonals[width], i, get(type, s.diagonals[width], i) + 16);
  }
  return s;
}
static void free_bands(bands* s, int width) {
  for (int d = 0; d < 2 * width + 1; ++d) cudaFree(s->diagonals[d]);
  cudaFree(s->x);
}
/* The rows of a system, times the solution, against the right-hand side. */
static void check_bands(int type, const bands* s, const bands* before, int width, int m, int step,
                        int first, int x_first, int x_step) {
  for (int row = 0; row < m; ++row) {
    wide sum = 0;
    long double size = 1;
    for (int d = -width; d <= width; ++d) {
      if (row + d < 0 || row + d >= m) continue;
      const wide term = get(type, before->diagonals[d + width], first + row * step) *
                        get(type, s->x, x_first + (row + d) * x_step);
      sum += term;
      size += cabsl(term);
    }
    assert_true(cabsl(sum - s->old[x_first + row * x_step]) < 50 * unit_of(type) * size);
  }
}

static void band_case(void) {
  const int t = below(4), type = floats[t], which = below(5), m = 3 + below(MOST - 3);
  const int count = 1 + below(5), width = which == 4 ? 2 : 1, stride = m + below(3);
  bands s = random_bands(type, stride * count, width), before = s;
  for (int d = 0; d < 2 * width + 1; ++d) {
    before.diagonals[d] = malloc(16 * (size_t)(stride * count));
    memcpy(before.diagonals[d], s.diagonals[d], 16 * (size_t)(stride * count));
  }
  void** const d = s.diagonals;
  const order made = begin(handle);
  switch (which) {
    case 0:
      assert_int_equal(gtsv2[t](handle, m, count, d[0], d[1], d[2], s.x, stride, NULL), SUCCESS);
      break;
    case 1:
      assert_int_equal(gtsv2_nopivot[t](handle, m, count, d[0], d[1], d[2], s.x, stride, NULL),
                       SUCCESS);
      break;
    case 2:
      assert_int_equal(gtsv2StridedBatch[t](handle, m, d[0], d[1], d[2], s.x, count, stride, NULL),
                       SUCCESS);
      break;
    case 3:
      assert_int_equal(
          gtsvInterleavedBatch[t](handle, below(3), m, d[0], d[1], d[2], s.x, count, NULL),
          SUCCESS);
      break;
    default:
      assert_int_equal(
          gpsvInterleavedBatch[t](handle, 0, m, d[0], d[1], d[2], d[3], d[4], s.x, count, NULL),
          SUCCESS);
  }
  end(handle, made);
  for (int i = 0; i < count; ++i) {
    const int is_interleaved = which >= 3;
    check_bands(type, &s, &before, width, m, is_interleaved ? count : 1,
                which < 2 ? 0 : (is_interleaved ? i : i * stride), is_interleaved ? i : i * stride,
                is_interleaved ? count : 1);
  }
  for (int k = 0; k < 2 * width + 1; ++k) free(before.diagonals[k]);
  free_bands(&s, width);
}
static void systems_with_bands(void** state) {
  (void)state;
  for (int i = case_count(100); i-- > 0;) band_case();
}

static void count_case(void) {
  const int t = below(4), type = floats[t], by_columns = below(2), m = 1 + below(MOST);
  const int n = 1 + below(MOST), lda = m + below(3);
  void *const a = managed(16 * (MOST + 3) * MOST), *const settings = settings_of(0);
  int *const counts = managed(4 * MOST), total = -1, expected[MOST] = {0}, all = 0;
  for (int i = 0; i < lda * n; ++i) {
    const wide value = below(2) ? random_value(type) : 0;
    set(type, a, i, value);
    if (i % lda >= m || value == 0) continue;
    ++expected[by_columns ? i / lda : i % lda], ++all;
  }
  assert_int_equal(cusparseSetPointerMode(handle, 0), SUCCESS);
  assert_int_equal(nnz[t](handle, by_columns, m, n, settings, a, lda, counts, &total), SUCCESS);
  assert_int_equal(total, all);
  for (int i = 0; i < (by_columns ? n : m); ++i) assert_int_equal(counts[i], expected[i]);
  cudaFree(a), cudaFree(counts), cusparseDestroyMatDescr(settings);
}
static void nonzeros_are_counted(void** state) {
  (void)state;
  for (int i = case_count(50); i-- > 0;) count_case();
}

static int compare_sizes(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void selection_case(void) {
  csr a = random_csr(R_64F, 0, 0), c = new_csr(R_64F, a.m->rows, a.m->cols);
  const int rows = a.m->rows, cols = a.m->cols, count = (int)a.m->nnz;
  int total = -1;
  int* const counts = managed(4 * MOST);
  double limit = 0.25 * below(10);
  wide dense[MOST * MOST];
  assert_int_equal(cusparseSetPointerMode(handle, 0), SUCCESS);
  const int kind = below(3);
  void* info = NULL;
  assert_int_equal(cusparseCreatePruneInfo(&info), SUCCESS);
  c.m->base = a.m->base, cusparseSetMatIndexBase(c.settings, a.m->base);
  if (kind == 0) {
    assert_int_equal(cusparseDnnz_compress(handle, rows, a.settings, a.m->values, a.offsets, counts,
                                           &total, limit),
                     SUCCESS);
    assert_int_equal(
        cusparseDcsr2csr_compress(handle, rows, cols, a.settings, a.m->values, a.indices, a.offsets,
                                  count, counts, c.m->values, c.indices, c.offsets, limit),
        SUCCESS);
  } else if (kind == 1) {
    double* const full = managed(8 * MOST * MOST);
    for (int i = 0; i < rows * cols; ++i)
      full[i % cols * rows + i / cols] = (double)creall(a.m->dense[i]);
    assert_int_equal(cusparseDpruneDense2csrNnz(handle, rows, cols, full, rows, &limit, c.settings,
                                                c.offsets, &total, NULL),
                     SUCCESS);
    assert_int_equal(cusparseDpruneDense2csr(handle, rows, cols, full, rows, &limit, c.settings,
                                             c.m->values, c.offsets, c.indices, NULL),
                     SUCCESS);
    wait();
    cudaFree(full);
  } else {
    const float percentage = (float)below(101);
    double sizes[MOST * MOST];
    for (int k = 0; k < count; ++k) sizes[k] = fabs(((double*)a.m->values)[k]);
    qsort(sizes, (size_t)count, sizeof *sizes, compare_sizes);
    int at = (int)ceil(count * (double)percentage / 100) - 1;
    at = at < 0 ? 0 : at;
    limit = count == 0 ? 0 : sizes[at];
    assert_int_equal(cusparseDpruneCsr2csrNnzByPercentage(
                         handle, rows, cols, count, a.settings, a.m->values, a.offsets, a.indices,
                         percentage, c.settings, c.offsets, &total, info, NULL),
                     SUCCESS);
    assert_int_equal(cusparseDpruneCsr2csrByPercentage(
                         handle, rows, cols, count, a.settings, a.m->values, a.offsets, a.indices,
                         percentage, c.settings, c.m->values, c.offsets, c.indices, info, NULL),
                     SUCCESS);
  }
  read_csr(&c, rows, cols, dense);
  int expected = 0;
  for (int i = 0; i < rows * cols; ++i) {
    const wide kept = cabsl(a.m->dense[i]) > limit ? a.m->dense[i] : 0;
    assert_true(dense[i] == kept);
    expected += kept != 0;
  }
  assert_int_equal(total, expected);
  assert_int_equal(describe(c.m), SUCCESS);
  assert_int_equal(cusparseDestroyPruneInfo(info), SUCCESS);
  cudaFree(counts);
  free_csr(a), free_csr(c);
}
static void small_entries_are_dropped(void** state) {
  (void)state;
  for (int i = case_count(100); i-- > 0;) selection_case();
}

static void colors_of_neighbours_differ(void** state) {
  (void)state;
  for (int i = case_count(20); i-- > 0;) {
    const int size = 1 + below(MOST);
    csr a = random_csr(R_64F, size, size);
    int *const colors = managed(4 * MOST), *const reordered = managed(4 * MOST), count = -1;
    double fraction = 1;
    void* info = NULL;
    assert_int_equal(cusparseCreateColorInfo(&info), SUCCESS);
    assert_int_equal(
        cusparseDcsrcolor(handle, size, (int)a.m->nnz, a.settings, a.m->values, a.offsets,
                          a.indices, &fraction, &count, colors, reordered, info),
        SUCCESS);
    int seen[MOST] = {0};
    for (int row = 0; row < size; ++row) {
      assert_true(colors[row] >= 0 && colors[row] < count);
      assert_int_equal(seen[reordered[row]]++, 0);
      if (row > 0) assert_true(colors[reordered[row - 1]] <= colors[reordered[row]]);
      for (int col = 0; col < size; ++col) {
        if (col != row && a.m->dense[row * size + col] != 0)
          assert_true(colors[row] != colors[col]);
      }
    }
    assert_int_equal(cusparseDestroyColorInfo(info), SUCCESS);
    cudaFree(colors), cudaFree(reordered);
    free_csr(a);
  }
}

static void gemvi_case(void) {
  const int t = below(4), type = floats[t], op = below(3), m = 1 + below(MOST), n = 1 + below(MOST);
  const int inner = op == 0 ? n : m, size = op == 0 ? m : n, base = below(2), lda = m + below(3);
  void *const a = managed(16 * (MOST + 3) * MOST), *const x = managed(16 * MOST);
  void* const y = managed(16 * MOST);
  int *const places = managed(4 * MOST), count = 0;
  wide old[MOST];
  for (int i = 0; i < lda * n; ++i) set(type, a, i, random_value(type));
  for (int i = 0; i < size; ++i) set(type, y, i, old[i] = random_value(type));
  for (int i = 0; i < inner; ++i) {
    if (below(2)) places[count] = i + base, set(type, x, count++, random_value(type));
  }
  const wide alpha = random_value(type), beta = below(2) ? random_value(type) : 0;
  void *const on_alpha = scalar(type, alpha), *const on_beta = scalar(type, beta);
  assert_int_equal(cusparseSetPointerMode(handle, below(2)), SUCCESS);
  const order made = begin(handle);
  assert_int_equal(
      gemvi[t](handle, op, m, n, on_alpha, a, lda, count, x, places, on_beta, y, base, NULL),
      SUCCESS);
  end(handle, made);
  for (int i = 0; i < size; ++i) {
    wide sum = beta * old[i];
    long double added = cabsl(sum);
    for (int k = 0; k < count; ++k) {
      const int at = places[k] - base;
      const wide term = alpha * operated(op, get(type, a, op == 0 ? at * lda + i : i * lda + at)) *
                        get(type, x, k);
      sum += term, added += cabsl(term);
    }
    assert_true(is_near(type, type, get(type, y, i), sum, added));
  }
  cudaFree(a), cudaFree(x), cudaFree(y), cudaFree(places), cudaFree(on_alpha), cudaFree(on_beta);
}
static void dense_matrices_by_sparse_vectors(void** state) {
  (void)state;
  for (int i = case_count(50); i-- > 0;) gemvi_case();
}

static int start(void** state) {
  (void)state;
  return cusparseCreate(&handle);
}
static int stop(void** state) {
  (void)state;
  return cusparseDestroy(handle);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(offsets_and_indices),
      cmocka_unit_test(coordinates_are_sorted),
      cmocka_unit_test(rows_are_sorted),
      cmocka_unit_test(csr_becomes_csc),
      cmocka_unit_test(blocks_come_and_go),
      cmocka_unit_test(sums_of_csr),
      cmocka_unit_test(systems_with_bands),
      cmocka_unit_test(nonzeros_are_counted),
      cmocka_unit_test(small_entries_are_dropped),
      cmocka_unit_test(colors_of_neighbours_differ),
      cmocka_unit_test(dense_matrices_by_sparse_vectors),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
