/* Incomplete factors, and products and solves with BSR matrices, against plain loops. */
#include "sparse.h"

int cusparseCreateMatDescr(void**);
int cusparseDestroyMatDescr(void*);
int cusparseSetMatIndexBase(void*, int);
int cusparseSetMatFillMode(void*, int);
int cusparseSetMatDiagType(void*, int);

#define DECLARE(name, ...)                                                                      \
  int cusparseS##name(__VA_ARGS__), cusparseD##name(__VA_ARGS__), cusparseC##name(__VA_ARGS__), \
      cusparseZ##name(__VA_ARGS__);                                                             \
  static int (*const name[])(__VA_ARGS__) = {cusparseS##name, cusparseD##name, cusparseC##name, \
                                             cusparseZ##name}
#define DECLARE_CSR(name)                                                                         \
  DECLARE(name##_bufferSize, void*, int, int, void*, void*, const int*, const int*, void*, int*); \
  DECLARE(name##_analysis, void*, int, int, void*, const void*, const int*, const int*, void*,    \
          int, void*);                                                                            \
  DECLARE(name, void*, int, int, void*, void*, const int*, const int*, void*, int, void*)
#define DECLARE_BSR(name)                                                                          \
  DECLARE(name##_analysis, void*, int, int, int, void*, void*, const int*, const int*, int, void*, \
          int, void*);                                                                             \
  DECLARE(name, void*, int, int, int, void*, void*, const int*, const int*, int, void*, int, void*)
DECLARE_CSR(csrilu02);
DECLARE_CSR(csric02);
DECLARE_BSR(bsrilu02);
DECLARE_BSR(bsric02);
DECLARE(csrilu02_numericBoost, void*, void*, int, double*, void*);
DECLARE(bsrsv2_analysis, void*, int, int, int, int, void*, const void*, const int*, const int*, int,
        void*, int, void*);
DECLARE(bsrsv2_solve, void*, int, int, int, int, const void*, void*, const void*, const int*,
        const int*, int, void*, const void*, void*, int, void*);
DECLARE(bsrsm2_analysis, void*, int, int, int, int, int, int, void*, const void*, const int*,
        const int*, int, void*, int, void*);
DECLARE(bsrsm2_solve, void*, int, int, int, int, int, int, const void*, void*, const void*,
        const int*, const int*, int, void*, const void*, int, void*, int, int, void*);
DECLARE(bsrmv, void*, int, int, int, int, int, const void*, void*, const void*, const int*,
        const int*, int, const void*, const void*, void*);
DECLARE(bsrxmv, void*, int, int, int, int, int, int, const void*, void*, const void*, const int*,
        const int*, const int*, const int*, int, const void*, const void*, void*);
DECLARE(bsrmm, void*, int, int, int, int, int, int, int, const void*, void*, const void*,
        const int*, const int*, int, const void*, int, const void*, void*, int);

int cusparseCreateCsrilu02Info(void**), cusparseDestroyCsrilu02Info(void*);
int cusparseCreateCsric02Info(void**), cusparseDestroyCsric02Info(void*);
int cusparseCreateBsrilu02Info(void**), cusparseDestroyBsrilu02Info(void*);
int cusparseCreateBsric02Info(void**), cusparseDestroyBsric02Info(void*);
int cusparseCreateBsrsv2Info(void**), cusparseDestroyBsrsv2Info(void*);
int cusparseCreateBsrsm2Info(void**), cusparseDestroyBsrsm2Info(void*);
int cusparseXcsrilu02_zeroPivot(void*, void*, int*), cusparseXcsric02_zeroPivot(void*, void*, int*);
int cusparseXbsrilu02_zeroPivot(void*, void*, int*), cusparseXbsric02_zeroPivot(void*, void*, int*);
int cusparseXbsrsv2_zeroPivot(void*, void*, int*), cusparseXbsrsm2_zeroPivot(void*, void*, int*);

static const int floats[] = {R_32F, R_64F, C_32F, C_64F};
static void* handle;

/* A square Hermitian matrix with a large diagonal, as CSR or with square blocks. */
static sparse_matrix* hermitian(int format, int type) {
  sparse_matrix* const m = new_matrix(format, type);
  m->offsets_type = m->indices_type = INDEX_32;
  m->col_block = m->row_block;
  m->rows = m->cols = m->row_block * (1 + below(MOST / m->row_block));
  for (int row = 0; row < m->rows; ++row) {
    for (int col = 0; col < row; ++col) {
      const wide value = below(4) == 0 ? random_value(type) : 0;
      m->dense[row * m->cols + col] = value;
      m->dense[col * m->cols + row] = conjl(value);
    }
    m->dense[row * m->cols + row] = 160;
  }
  build(m);
  return m;
}

static void* settings_of(const sparse_matrix* m) {
  void* settings = NULL;
  assert_int_equal(cusparseCreateMatDescr(&settings), SUCCESS);
  assert_int_equal(cusparseSetMatIndexBase(settings, m->base), SUCCESS);
  return settings;
}

/* Whether the matrix has a place for an element. */
static int has_place(const sparse_matrix* m, int row, int col) {
  if (m->format == BSR) return has_block(m, row / m->row_block, col / m->col_block);
  return m->dense[row * m->cols + col] != 0;
}

/* The elements that the matrix's arrays have now. */
static void read_elements(const sparse_matrix* m, wide* out) {
  memset(out, 0, sizeof(wide) * MOST * MOST);
  const int* const offsets = m->offsets;
  const int* const indices = m->indices;
  const int block = m->row_block;
  for (int line = 0; line < m->rows / block; ++line) {
    for (int k = offsets[line] - m->base; k < offsets[line + 1] - m->base; ++k) {
      for (int i = 0; i < block * block; ++i) {
        const int row_in = m->order == BY_ROW ? i / block : i % block;
        const int col_in = m->order == BY_ROW ? i % block : i / block;
        const int col = (indices[k] - m->base) * block + col_in;
        out[(line * block + row_in) * m->cols + col] =
            get(m->type, m->values, (int64_t)k * block * block + i);
      }
    }
  }
}

/* An incomplete factorisation has the products of its factors where the matrix has places. */
static void check_factors(const sparse_matrix* m, int is_cholesky) {
  wide f[MOST * MOST];
  read_elements(m, f);
  for (int row = 0; row < m->rows; ++row) {
    for (int col = 0; col < m->cols; ++col) {
      if (!has_place(m, row, col) || (is_cholesky && col > row)) continue;
      wide sum = 0;
      long double size = 0;
      for (int k = 0; k <= row && k <= col; ++k) {
        const wide left = k == row && !is_cholesky ? 1 : f[row * m->cols + k];
        const wide right = is_cholesky ? conjl(f[col * m->cols + k]) : f[k * m->cols + col];
        sum += left * right;
        size += cabsl(left * right);
      }
      assert_true(cabsl(sum - m->dense[row * m->cols + col]) <= 100 * unit_of(m->type) * size);
    }
  }
}

static void csr_case(void) {
  const int t = below(4), is_cholesky = below(2);
  sparse_matrix* const m = hermitian(CSR, floats[t]);
  void *const settings = settings_of(m), *info;
  int pivot = 7, size = 0;
  assert_int_equal((is_cholesky ? cusparseCreateCsric02Info : cusparseCreateCsrilu02Info)(&info),
                   SUCCESS);
  assert_int_equal(
      (is_cholesky ? csric02_bufferSize : csrilu02_bufferSize)[t](
          handle, m->rows, (int)m->nnz, settings, m->values, m->offsets, m->indices, info, &size),
      SUCCESS);
  const order made = begin(handle);
  assert_int_equal(
      (is_cholesky ? csric02_analysis : csrilu02_analysis)[t](
          handle, m->rows, (int)m->nnz, settings, m->values, m->offsets, m->indices, info, 0, NULL),
      SUCCESS);
  assert_int_equal(
      (is_cholesky ? csric02 : csrilu02)[t](handle, m->rows, (int)m->nnz, settings, m->values,
                                            m->offsets, m->indices, info, 0, NULL),
      SUCCESS);
  end(handle, made);
  assert_int_equal((is_cholesky ? cusparseXcsric02_zeroPivot : cusparseXcsrilu02_zeroPivot)(
                       handle, info, &pivot),
                   SUCCESS);
  assert_int_equal(pivot, -1);
  check_factors(m, is_cholesky);
  assert_int_equal((is_cholesky ? cusparseDestroyCsric02Info : cusparseDestroyCsrilu02Info)(info),
                   SUCCESS);
  cusparseDestroyMatDescr(settings);
  free_matrix(m);
}
static void factors_of_csr(void** state) {
  (void)state;
  assert_int_equal(cusparseSetPointerMode(handle, 0), SUCCESS);
  for (int i = case_count(100); i-- > 0;) csr_case();
}

static void bsr_case(void) {
  const int t = below(4), is_cholesky = below(2);
  sparse_matrix* const m = hermitian(BSR, floats[t]);
  void *const settings = settings_of(m), *info;
  const int mb = m->rows / m->row_block, direction = m->order == BY_ROW ? 0 : 1;
  int pivot = 7;
  assert_int_equal((is_cholesky ? cusparseCreateBsric02Info : cusparseCreateBsrilu02Info)(&info),
                   SUCCESS);
  const order made = begin(handle);
  assert_int_equal((is_cholesky ? bsric02_analysis : bsrilu02_analysis)[t](
                       handle, direction, mb, (int)m->nnz, settings, m->values, m->offsets,
                       m->indices, m->row_block, info, 0, NULL),
                   SUCCESS);
  assert_int_equal(
      (is_cholesky ? bsric02 : bsrilu02)[t](handle, direction, mb, (int)m->nnz, settings, m->values,
                                            m->offsets, m->indices, m->row_block, info, 0, NULL),
      SUCCESS);
  end(handle, made);
  assert_int_equal((is_cholesky ? cusparseXbsric02_zeroPivot : cusparseXbsrilu02_zeroPivot)(
                       handle, info, &pivot),
                   SUCCESS);
  assert_int_equal(pivot, -1);
  check_factors(m, is_cholesky);
  assert_int_equal((is_cholesky ? cusparseDestroyBsric02Info : cusparseDestroyBsrilu02Info)(info),
                   SUCCESS);
  cusparseDestroyMatDescr(settings);
  free_matrix(m);
}
static void factors_of_bsr(void** state) {
  (void)state;
  assert_int_equal(cusparseSetPointerMode(handle, 0), SUCCESS);
  for (int i = case_count(100); i-- > 0;) bsr_case();
}

/* 1 2 / 2 4 has a zero as its second pivot; a boost takes its place. */
static void zero_pivots_are_found(void** state) {
  (void)state;
  int* const offsets = managed(64);
  int* const indices = managed(64);
  double* const values = managed(64);
  void *settings, *info;
  int pivot = -1;
  double limit = 1e-6, boost = 0.5;
  assert_int_equal(cusparseSetPointerMode(handle, 0), SUCCESS);
  assert_int_equal(cusparseCreateMatDescr(&settings), SUCCESS);
  assert_int_equal(cusparseSetMatIndexBase(settings, 1), SUCCESS);
  memcpy(offsets, (int[]){1, 3, 5}, 12), memcpy(indices, (int[]){1, 2, 1, 2}, 16);
  assert_int_equal(cusparseCreateCsrilu02Info(&info), SUCCESS);
  for (int has_boost = 0; has_boost < 2; ++has_boost) {
    memcpy(values, (double[]){1, 2, 2, 4}, 32);
    assert_int_equal(csrilu02_numericBoost[1](handle, info, has_boost, &limit, &boost), SUCCESS);
    assert_int_equal(
        csrilu02_analysis[1](handle, 2, 4, settings, values, offsets, indices, info, 0, NULL),
        SUCCESS);
    assert_int_equal(csrilu02[1](handle, 2, 4, settings, values, offsets, indices, info, 0, NULL),
                     SUCCESS);
    assert_int_equal(cusparseXcsrilu02_zeroPivot(handle, info, &pivot),
                     has_boost ? SUCCESS : ZERO_PIVOT);
    assert_int_equal(pivot, has_boost ? -1 : 2);
    assert_true(values[3] == (has_boost ? 0.5 : 0));
  }
  /* Without an element on the diagonal, the analysis finds it. */
  memcpy(offsets, (int[]){1, 2, 3}, 12), memcpy(indices, (int[]){1, 1}, 8);
  assert_int_equal(
      csrilu02_analysis[1](handle, 2, 2, settings, values, offsets, indices, info, 0, NULL),
      SUCCESS);
  assert_int_equal(cusparseXcsrilu02_zeroPivot(handle, info, &pivot), ZERO_PIVOT);
  assert_int_equal(pivot, 2);
  assert_int_equal(cusparseDestroyCsrilu02Info(info), SUCCESS);
  assert_int_equal(cusparseDestroyMatDescr(settings), SUCCESS);
  cudaFree(offsets), cudaFree(indices), cudaFree(values);
}

static void solve_case(void) {
  const int t = below(4), type = floats[t], op = below(3), op_x = below(2), cols = 1 + below(8);
  const int is_upper = below(2), is_one = below(2);
  sparse_matrix* const m = hermitian(BSR, type);
  const int mb = m->rows / m->row_block, direction = m->order == BY_ROW ? 0 : 1, rows = m->rows;
  const int ld = (op_x && !is_one ? cols : rows) + (is_one ? 0 : below(3)), n = is_one ? 1 : cols;
  void *const settings = settings_of(m), *info, *const b = managed(16 * (MOST + 3) * MOST);
  void* const x = managed(16 * (MOST + 3) * MOST);
  const wide alpha = random_value(type);
  void* const on_alpha = scalar(type, alpha);
  int pivot = 7;
  cusparseSetMatFillMode(settings, is_upper);
  for (int i = 0; i < ld * (op_x ? rows : n); ++i) set(type, b, i, random_value(type));
  for (int i = ld * (op_x ? rows : n); i < (MOST + 3) * MOST; ++i) set(type, b, i, 1);
  assert_int_equal((is_one ? cusparseCreateBsrsv2Info : cusparseCreateBsrsm2Info)(&info), SUCCESS);
  const order made = begin(handle);
  if (is_one) {
    assert_int_equal(bsrsv2_analysis[t](handle, direction, op, mb, (int)m->nnz, settings, m->values,
                                        m->offsets, m->indices, m->row_block, info, 0, NULL),
                     SUCCESS);
    assert_int_equal(
        bsrsv2_solve[t](handle, direction, op, mb, (int)m->nnz, on_alpha, settings, m->values,
                        m->offsets, m->indices, m->row_block, info, b, x, 0, NULL),
        SUCCESS);
  } else {
    assert_int_equal(
        bsrsm2_analysis[t](handle, direction, op, op_x, mb, n, (int)m->nnz, settings, m->values,
                           m->offsets, m->indices, m->row_block, info, 0, NULL),
        SUCCESS);
    assert_int_equal(bsrsm2_solve[t](handle, direction, op, op_x, mb, n, (int)m->nnz, on_alpha,
                                     settings, m->values, m->offsets, m->indices, m->row_block,
                                     info, b, ld, x, ld, 0, NULL),
                     SUCCESS);
  }
  end(handle, made);
  assert_int_equal(
      (is_one ? cusparseXbsrsv2_zeroPivot : cusparseXbsrsm2_zeroPivot)(handle, info, &pivot),
      SUCCESS);
  const int is_turned = op_x && !is_one;
  for (int col = 0; col < n; ++col) {
    for (int row = 0; row < rows; ++row) {
      wide sum = 0;
      long double size = 1;
      for (int k = 0; k < rows; ++k) {
        const int r = op == 0 ? row : k, c = op == 0 ? k : row;
        if (is_upper ? c < r : c > r) continue;
        const wide term =
            element_of(m, op, row, k) * get(type, x, is_turned ? k * ld + col : col * ld + k);
        sum += term, size += cabsl(term);
      }
      const wide right = alpha * get(type, b, is_turned ? row * ld + col : col * ld + row);
      assert_true(cabsl(sum - right) <= 100 * unit_of(type) * (size + cabsl(right)));
    }
  }
  assert_int_equal((is_one ? cusparseDestroyBsrsv2Info : cusparseDestroyBsrsm2Info)(info), SUCCESS);
  cusparseDestroyMatDescr(settings);
  cudaFree(b), cudaFree(x), cudaFree(on_alpha);
  free_matrix(m);
}
static void systems_with_blocks(void** state) {
  (void)state;
  assert_int_equal(cusparseSetPointerMode(handle, 0), SUCCESS);
  for (int i = case_count(100); i-- > 0;) solve_case();
}

/* A matrix with square blocks. */
static sparse_matrix* square_blocks(int type) {
  sparse_matrix* const m = new_matrix(BSR, type);
  m->offsets_type = m->indices_type = INDEX_32;
  m->col_block = m->row_block;
  m->cols = m->col_block * (1 + below(MOST / m->col_block));
  fill_randomly(m);
  build(m);
  return m;
}

static void product_case(void) {
  const int t = below(4), type = floats[t], kind = below(3), op = kind == 2 ? 0 : below(3);
  sparse_matrix* const m = square_blocks(type);
  const int block = m->row_block, mb = m->rows / block, nb = m->cols / block;
  const int direction = m->order == BY_ROW ? 0 : 1, rows = op == 0 ? m->rows : m->cols;
  const int inner = op == 0 ? m->cols : m->rows, n = kind == 0 ? 1 + below(8) : 1;
  const int ldb = inner + below(3), ldc = rows + below(3);
  void *const settings = settings_of(m), *const b = managed(16 * (MOST + 3) * 8);
  void* const c = managed(16 * (MOST + 3) * 8);
  wide old[(MOST + 3) * 8];
  int *const mask = managed(4 * MOST), *const offsets = m->offsets, count = 0;
  int is_masked[MOST] = {0};
  for (int i = 0; i < (MOST + 3) * 8; ++i) {
    set(type, b, i, random_value(type)), set(type, c, i, old[i] = random_value(type));
  }
  for (int line = 0; line < mb; ++line) {
    is_masked[line] = below(2);
    if (is_masked[line]) mask[count++] = line + m->base;
  }
  const wide alpha = random_value(type), beta = below(2) ? random_value(type) : 0;
  void *const on_alpha = scalar(type, alpha), *const on_beta = scalar(type, beta);
  assert_int_equal(cusparseSetPointerMode(handle, below(2)), SUCCESS);
  const order made = begin(handle);
  if (kind == 0) {
    assert_int_equal(bsrmm[t](handle, direction, op, 0, mb, n, nb, (int)m->nnz, on_alpha, settings,
                              m->values, offsets, m->indices, block, b, ldb, on_beta, c, ldc),
                     SUCCESS);
  } else if (kind == 1) {
    assert_int_equal(bsrmv[t](handle, direction, op, mb, nb, (int)m->nnz, on_alpha, settings,
                              m->values, offsets, m->indices, block, b, on_beta, c),
                     SUCCESS);
  } else {
    assert_int_equal(
        bsrxmv[t](handle, direction, 0, count, mb, nb, (int)m->nnz, on_alpha, settings, m->values,
                  mask, offsets, offsets + 1, m->indices, block, b, on_beta, c),
        SUCCESS);
  }
  end(handle, made);
  for (int i = 0; i < rows * n; ++i) {
    const int row = i % rows, col = i / rows;
    wide sum = beta * old[col * ldc + row];
    long double size = cabsl(sum);
    for (int k = 0; k < inner; ++k) {
      const wide term = alpha * element_of(m, op, row, k) * get(type, b, col * ldb + k);
      sum += term, size += cabsl(term);
    }
    if (kind == 2 && !is_masked[row / block]) sum = old[row];
    assert_true(is_near(type, type, get(type, c, col * ldc + row), sum, size));
  }
  cusparseDestroyMatDescr(settings);
  cudaFree(b), cudaFree(c), cudaFree(mask), cudaFree(on_alpha), cudaFree(on_beta);
  free_matrix(m);
}
static void products_with_blocks(void** state) {
  (void)state;
  for (int i = case_count(100); i-- > 0;) product_case();
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
      cmocka_unit_test(factors_of_csr),        cmocka_unit_test(factors_of_bsr),
      cmocka_unit_test(zero_pivots_are_found), cmocka_unit_test(systems_with_blocks),
      cmocka_unit_test(products_with_blocks),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
