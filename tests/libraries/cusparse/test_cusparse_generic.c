/* Solves, sparse products, vectors and conversions of cuSPARSE's generic API against plain loops.
 */
#include "sparse.h"

int cusparseSpSV_createDescr(void**);
int cusparseSpSV_destroyDescr(void*);
int cusparseSpSV_bufferSize(void*, int, const void*, const void*, const void*, void*, int, int,
                            void*, size_t*);
int cusparseSpSV_analysis(void*, int, const void*, const void*, const void*, void*, int, int, void*,
                          void*);
int cusparseSpSV_solve(void*, int, const void*, const void*, const void*, void*, int, int, void*);
int cusparseSpSV_updateMatrix(void*, void*, void*, int);
int cusparseSpSM_createDescr(void**);
int cusparseSpSM_destroyDescr(void*);
int cusparseSpSM_analysis(void*, int, int, const void*, const void*, const void*, void*, int, int,
                          void*, void*);
int cusparseSpSM_solve(void*, int, int, const void*, const void*, const void*, void*, int, int,
                       void*);
int cusparseSpMatSetAttribute(void*, int, void*, size_t);
int cusparseSpMatGetSize(const void*, int64_t*, int64_t*, int64_t*);
int cusparseCsrSetPointers(void*, void*, void*, void*);
int cusparseCscSetPointers(void*, void*, void*, void*);
int cusparseCooSetPointers(void*, void*, void*, void*);
int cusparseSpGEMM_createDescr(void**);
int cusparseSpGEMM_destroyDescr(void*);
int cusparseSpGEMM_workEstimation(void*, int, int, const void*, const void*, const void*,
                                  const void*, void*, int, int, void*, size_t*, void*);
int cusparseSpGEMM_getNumProducts(void*, int64_t*);
int cusparseSpGEMM_compute(void*, int, int, const void*, const void*, const void*, const void*,
                           void*, int, int, void*, size_t*, void*);
int cusparseSpGEMM_copy(void*, int, int, const void*, const void*, const void*, const void*, void*,
                        int, int, void*);
int cusparseSpGEMMreuse_nnz(void*, int, int, const void*, const void*, void*, int, void*, size_t*,
                            void*, size_t*, void*, size_t*, void*);
int cusparseSpGEMMreuse_copy(void*, int, int, const void*, const void*, void*, int, void*, size_t*,
                             void*);
int cusparseSpGEMMreuse_compute(void*, int, int, const void*, const void*, const void*, const void*,
                                void*, int, int, void*);
int cusparseSpGEAM_createDescr(void**);
int cusparseSpGEAM_destroyDescr(void*);
int cusparseSpGEAM_nnz(void*, int, int, const void*, void*, const void*, void*, void*, int, int,
                       void*, void*);
int cusparseSpGEAM(void*, int, int, const void*, void*, const void*, void*, void*, int, int, void*,
                   void*);
int cusparseCreateSpVec(void**, int64_t, int64_t, void*, void*, int, int, int);
int cusparseDestroySpVec(const void*);
int cusparseAxpby(void*, const void*, const void*, const void*, void*);
int cusparseGather(void*, const void*, void*);
int cusparseScatter(void*, const void*, void*);
int cusparseRot(void*, const void*, const void*, void*, void*);
int cusparseSpVV(void*, int, const void*, const void*, void*, int, void*);
int cusparseSparseToDense(void*, const void*, void*, int, void*);
int cusparseDenseToSparse_analysis(void*, const void*, void*, int, void*);
int cusparseDenseToSparse_convert(void*, const void*, void*, int, void*);

static const int floats[] = {R_32F, R_64F, C_32F, C_64F};
static void* handle;

/* A square matrix whose diagonal is large, so that solves are stable. */
static sparse_matrix* square_matrix(int format, int type) {
  sparse_matrix* const m = new_matrix(format, type);
  const int size = m->row_block * m->col_block;
  if (format == BSR || format == BLOCKED_ELL) {
    m->rows = m->cols = size * (1 + below(MOST / size));
  } else {
    m->cols = m->rows;
  }
  for (int i = 0; i < m->rows * m->cols; ++i) {
    m->dense[i] = below(4) == 0 ? random_value(type) : 0;
    if (i / m->cols == i % m->cols) m->dense[i] = 64 + random_value(type);
  }
  build(m);
  return m;
}

typedef struct {
  int op, is_upper, is_unit;
} triangle;

/* The element of the triangle that a solve uses. */
static wide triangle_element(const sparse_matrix* a, triangle t, int row, int col) {
  const int r = t.op == 0 ? row : col, c = t.op == 0 ? col : row;
  if (row == col && t.is_unit) return 1;
  if (t.is_upper ? c < r : c > r) return 0;
  return element_of(a, t.op, row, col);
}

/* The largest error of op(A) * x - alpha * b, relative to what was added. */
static int is_solution(const sparse_matrix* a, triangle t, wide alpha, const wide* b,
                       const wide* x) {
  for (int row = 0; row < a->rows; ++row) {
    wide sum = 0;
    long double size = cabsl(alpha * b[row]);
    for (int col = 0; col < a->cols; ++col) {
      const wide term = triangle_element(a, t, row, col) * x[col];
      sum += term;
      size += cabsl(term);
    }
    if (cabsl(sum - alpha * b[row]) > 200 * unit_of(a->type) * size) return 0;
  }
  return 1;
}

static triangle random_triangle(sparse_matrix* a) {
  triangle t = {below(3), below(2), below(2)};
  assert_int_equal(cusparseSpMatSetAttribute(a->descriptor, 0, &t.is_upper, 4), SUCCESS);
  assert_int_equal(cusparseSpMatSetAttribute(a->descriptor, 1, &t.is_unit, 4), SUCCESS);
  /* With a unit diagonal, results grow with each row: small elements keep them small. */
  for (int i = 0; t.is_unit && i < a->rows * a->cols; ++i) a->dense[i] /= 64;
  if (t.is_unit) {
    assert_int_equal(cusparseDestroySpMat(a->descriptor), SUCCESS);
    build(a);
    assert_int_equal(cusparseSpMatSetAttribute(a->descriptor, 0, &t.is_upper, 4), SUCCESS);
    assert_int_equal(cusparseSpMatSetAttribute(a->descriptor, 1, &t.is_unit, 4), SUCCESS);
  }
  return t;
}

static void solve_case(void) {
  const int type = floats[below(4)];
  sparse_matrix* const a = square_matrix(random_format(), type);
  const triangle t = random_triangle(a);
  void *const b = managed(16 * MOST), *const x = managed(16 * MOST), *b_vector, *x_vector, *solver;
  wide before[MOST], after[MOST];
  for (int i = 0; i < a->rows; ++i) set(type, b, i, before[i] = random_value(type));
  assert_int_equal(cusparseCreateDnVec(&b_vector, a->rows, b, type), SUCCESS);
  assert_int_equal(cusparseCreateDnVec(&x_vector, a->rows, x, type), SUCCESS);
  assert_int_equal(cusparseSpSV_createDescr(&solver), SUCCESS);
  const wide alpha = random_value(type);
  void* const on_alpha = scalar(type, alpha);
  assert_int_equal(cusparseSetPointerMode(handle, below(2)), SUCCESS);
  size_t size = 0;
  const order made = begin(handle);
  assert_int_equal(cusparseSpSV_bufferSize(handle, t.op, on_alpha, a->descriptor, b_vector,
                                           x_vector, type, 0, solver, &size),
                   SUCCESS);
  assert_int_equal(cusparseSpSV_analysis(handle, t.op, on_alpha, a->descriptor, b_vector, x_vector,
                                         type, 0, solver, NULL),
                   SUCCESS);
  assert_int_equal(cusparseSpSV_solve(handle, t.op, on_alpha, a->descriptor, b_vector, x_vector,
                                      type, 0, solver),
                   SUCCESS);
  end(handle, made);
  for (int i = 0; i < a->rows; ++i) after[i] = get(type, x, i);
  assert_true(is_solution(a, t, alpha, before, after));
  /* New values, twice as large, give half of the result. */
  if (a->format == CSR && !t.is_unit) {
    for (int64_t k = 0; k < a->nnz; ++k) set(type, a->values, k, 2 * get(type, a->values, k));
    assert_int_equal(cusparseSpSV_updateMatrix(handle, solver, a->values, 0), SUCCESS);
    assert_int_equal(cusparseSpSV_solve(handle, t.op, on_alpha, a->descriptor, b_vector, x_vector,
                                        type, 0, solver),
                     SUCCESS);
    assert_int_equal(cudaDeviceSynchronize(), 0);
    for (int i = 0; i < a->rows; ++i) assert_true(2 * get(type, x, i) == after[i]);
  }
  assert_int_equal(cusparseSpSV_destroyDescr(solver), SUCCESS);
  cusparseDestroyDnVec(b_vector), cusparseDestroyDnVec(x_vector);
  cudaFree(b), cudaFree(x), cudaFree(on_alpha);
  free_matrix(a);
}
static void vectors_are_solved_for(void** state) {
  (void)state;
  for (int i = case_count(200); i-- > 0;) solve_case();
}

static void solve_many_case(void) {
  const int type = floats[below(4)], op_b = below(2), cols = 1 + below(MOST);
  sparse_matrix* const a = square_matrix(random_format(), type);
  const triangle t = random_triangle(a);
  dense_matrix b =
      op_b == 0 ? new_dense(a->rows, cols, type, 1) : new_dense(cols, a->rows, type, 1);
  dense_matrix x = new_dense(a->rows, cols, type, 1);
  const wide alpha = random_value(type);
  void *const on_alpha = scalar(type, alpha), *solver;
  assert_int_equal(cusparseSpSM_createDescr(&solver), SUCCESS);
  assert_int_equal(cusparseSetPointerMode(handle, below(2)), SUCCESS);
  const order made = begin(handle);
  assert_int_equal(cusparseSpSM_analysis(handle, t.op, op_b, on_alpha, a->descriptor, b.descriptor,
                                         x.descriptor, type, 0, solver, NULL),
                   SUCCESS);
  assert_int_equal(cusparseSpSM_solve(handle, t.op, op_b, on_alpha, a->descriptor, b.descriptor,
                                      x.descriptor, type, 0, solver),
                   SUCCESS);
  end(handle, made);
  for (int col = 0; col < cols; ++col) {
    wide before[MOST], after[MOST];
    for (int i = 0; i < a->rows; ++i) {
      before[i] = dense_element(&b, op_b, 0, i, col);
      after[i] = dense_element(&x, 0, 0, i, col);
    }
    assert_true(is_solution(a, t, alpha, before, after));
  }
  assert_int_equal(cusparseSpSM_destroyDescr(solver), SUCCESS);
  cudaFree(on_alpha);
  free_dense(&b), free_dense(&x), free_matrix(a);
}
static void matrices_are_solved_for(void** state) {
  (void)state;
  for (int i = case_count(200); i-- > 0;) solve_many_case();
}

/* An empty CSR matrix with room for everything. */
static sparse_matrix* empty_matrix(int rows, int cols, int type) {
  sparse_matrix* const c = new_matrix(CSR, type);
  c->rows = rows, c->cols = cols;
  assert_int_equal(describe(c), SUCCESS);
  return c;
}

/* Reads a CSR matrix's elements; its columns are sorted and within the matrix. */
static void read_back(sparse_matrix* c, wide* dense) {
  assert_int_equal(cudaDeviceSynchronize(), 0);
  memset(dense, 0, sizeof(wide) * MOST * MOST);
  for (int64_t row = 0; row < c->rows; ++row) {
    int64_t before = -1;
    const int64_t last = get_index(c->offsets_type, c->offsets, row + 1) - c->base;
    for (int64_t k = get_index(c->offsets_type, c->offsets, row) - c->base; k < last; ++k) {
      const int64_t col = get_index(c->indices_type, c->indices, k) - c->base;
      assert_true(col > before && col < c->cols);
      dense[row * c->cols + col] = get(c->type, c->values, k);
      before = col;
    }
  }
}

static void set_product_size(sparse_matrix* c) {
  int64_t rows = 0, cols = 0;
  assert_int_equal(cusparseSpMatGetSize(c->descriptor, &rows, &cols, &c->nnz), SUCCESS);
  assert_true(c->nnz <= (int64_t)MOST * MOST);
  assert_int_equal(cusparseCsrSetPointers(c->descriptor, c->offsets, c->indices, c->values),
                   SUCCESS);
}

static int is_product(const sparse_matrix* a, const sparse_matrix* b, wide alpha,
                      const sparse_matrix* c, const wide* dense) {
  for (int row = 0; row < c->rows; ++row) {
    for (int col = 0; col < c->cols; ++col) {
      wide sum = 0;
      long double size = 0;
      for (int k = 0; k < a->cols; ++k) {
        const wide term = a->dense[row * a->cols + k] * b->dense[k * b->cols + col];
        sum += term;
        size += cabsl(term);
      }
      if (!is_near(c->type, c->type, dense[row * c->cols + col], alpha * sum, cabsl(alpha) * size))
        return 0;
    }
  }
  return 1;
}

/* A second factor whose rows are the columns of the first. */
static sparse_matrix* factor_for(const sparse_matrix* a) {
  sparse_matrix* const b = new_matrix(CSR, a->type);
  b->rows = a->cols;
  fill_randomly(b);
  build(b);
  return b;
}

static void sparse_product_case(void) {
  const int type = floats[below(4)], is_reuse = below(2);
  sparse_matrix* const a = random_matrix(CSR, type);
  sparse_matrix* const b = factor_for(a);
  sparse_matrix* const c = empty_matrix(a->rows, b->cols, type);
  const wide alpha = random_value(type);
  void *const on_alpha = scalar(type, alpha), *const on_beta = scalar(type, 0), *product;
  char buffer[4];
  size_t size = 0;
  assert_int_equal(cusparseSetPointerMode(handle, below(2)), SUCCESS);
  assert_int_equal(cusparseSpGEMM_createDescr(&product), SUCCESS);
  if (is_reuse) {
    assert_int_equal(
        cusparseSpGEMMreuse_nnz(handle, 0, 0, a->descriptor, b->descriptor, c->descriptor, 0,
                                product, &size, buffer, &size, buffer, &size, buffer),
        SUCCESS);
    set_product_size(c);
    assert_int_equal(cusparseSpGEMMreuse_copy(handle, 0, 0, a->descriptor, b->descriptor,
                                              c->descriptor, 0, product, &size, buffer),
                     SUCCESS);
    assert_int_equal(
        cusparseSpGEMMreuse_compute(handle, 0, 0, on_alpha, a->descriptor, b->descriptor, on_beta,
                                    c->descriptor, type, 0, product),
        SUCCESS);
  } else {
    int64_t count = -1;
    assert_int_equal(
        cusparseSpGEMM_workEstimation(handle, 0, 0, on_alpha, a->descriptor, b->descriptor, on_beta,
                                      c->descriptor, type, 0, product, &size, buffer),
        SUCCESS);
    assert_int_equal(cusparseSpGEMM_getNumProducts(product, &count), SUCCESS);
    assert_true(count >= 0);
    assert_int_equal(
        cusparseSpGEMM_compute(handle, 0, 0, on_alpha, a->descriptor, b->descriptor, on_beta,
                               c->descriptor, type, 0, product, &size, buffer),
        SUCCESS);
    set_product_size(c);
    const order made = begin(handle);
    assert_int_equal(cusparseSpGEMM_copy(handle, 0, 0, on_alpha, a->descriptor, b->descriptor,
                                         on_beta, c->descriptor, type, 0, product),
                     SUCCESS);
    end(handle, made);
  }
  read_back(c, c->dense);
  assert_true(is_product(a, b, alpha, c, c->dense));
  assert_int_equal(cusparseSpGEMM_destroyDescr(product), SUCCESS);
  cudaFree(on_alpha), cudaFree(on_beta);
  free_matrix(a), free_matrix(b), free_matrix(c);
}
static void sparse_matrices_are_multiplied(void** state) {
  (void)state;
  for (int i = case_count(200); i-- > 0;) sparse_product_case();
}

static void sparse_sum_case(void) {
  const int type = floats[below(4)], op_a = below(3), op_b = below(3);
  sparse_matrix* const a = random_matrix(CSR, type);
  sparse_matrix* const b = new_matrix(CSR, type);
  const int rows = op_a == 0 ? a->rows : a->cols, cols = op_a == 0 ? a->cols : a->rows;
  b->rows = op_b == 0 ? rows : cols, b->cols = op_b == 0 ? cols : rows;
  fill_randomly(b);
  build(b);
  sparse_matrix* const c = empty_matrix(rows, cols, type);
  const wide alpha = random_value(type), beta = random_value(type);
  void *const on_alpha = scalar(type, alpha), *const on_beta = scalar(type, beta), *sum;
  assert_int_equal(cusparseSetPointerMode(handle, below(2)), SUCCESS);
  assert_int_equal(cusparseSpGEAM_createDescr(&sum), SUCCESS);
  assert_int_equal(cusparseSpGEAM_nnz(handle, op_a, op_b, on_alpha, a->descriptor, on_beta,
                                      b->descriptor, c->descriptor, type, 0, sum, NULL),
                   SUCCESS);
  set_product_size(c);
  assert_int_equal(cusparseSpGEAM(handle, op_a, op_b, on_alpha, a->descriptor, on_beta,
                                  b->descriptor, c->descriptor, type, 0, sum, NULL),
                   SUCCESS);
  read_back(c, c->dense);
  for (int i = 0; i < rows * cols; ++i) {
    const wide in_a = alpha * element_of(a, op_a, i / cols, i % cols);
    const wide in_b = beta * element_of(b, op_b, i / cols, i % cols);
    assert_true(is_near(type, type, c->dense[i], in_a + in_b, cabsl(in_a) + cabsl(in_b)));
  }
  assert_int_equal(cusparseSpGEAM_destroyDescr(sum), SUCCESS);
  cudaFree(on_alpha), cudaFree(on_beta);
  free_matrix(a), free_matrix(b), free_matrix(c);
}
static void sparse_matrices_are_added(void** state) {
  (void)state;
  for (int i = case_count(100); i-- > 0;) sparse_sum_case();
}

/* A sparse vector with its dense form. */
typedef struct {
  int size, nnz, type, index_type, base;
  void *indices, *values, *descriptor;
  int places[MOST];
} sparse_vector;

static sparse_vector random_vector(int type) {
  sparse_vector v = {
      1 + below(MOST), 0, type, INDEX_32 + below(2), below(2), NULL, NULL, NULL, {0}};
  v.indices = managed(8 * MOST), v.values = managed(16 * MOST);
  for (int i = 0; i < v.size; ++i) {
    if (below(2)) continue;
    put_index(v.index_type, v.indices, v.nnz, i + v.base);
    set(type, v.values, v.nnz, random_value(type));
    v.places[v.nnz++] = i;
  }
  assert_int_equal(cusparseCreateSpVec(&v.descriptor, v.size, v.nnz, v.indices, v.values,
                                       v.index_type, v.base, type),
                   SUCCESS);
  return v;
}

static void vector_case(void) {
  static const int all[] = {R_32F, R_64F, C_32F, C_64F, R_16F, R_16BF, C_16F, C_16BF};
  const int type = all[below(8)];
  const int sum_type = bytes_of(type) >= 8 || type == R_32F ? type
                       : is_complex(type)                   ? C_32F
                                                            : R_32F;
  const int real_sum = type == C_16F || type == C_16BF ? C_32F : sum_type;
  sparse_vector x = random_vector(type);
  void *const y = managed(16 * MOST), *y_vector;
  wide old_y[MOST], old_x[MOST];
  for (int i = 0; i < x.size; ++i) set(type, y, i, old_y[i] = random_value(type));
  for (int i = 0; i < x.nnz; ++i) old_x[i] = get(type, x.values, i);
  assert_int_equal(cusparseCreateDnVec(&y_vector, x.size, y, type), SUCCESS);
  const wide alpha = random_value(real_sum), beta = random_value(real_sum);
  void *const on_alpha = scalar(real_sum, alpha), *const on_beta = scalar(real_sum, beta);
  assert_int_equal(cusparseSetPointerMode(handle, below(2)), SUCCESS);
  wide expected[MOST];
  const int which = below(4);
  const order made = begin(handle);
  switch (which) {
    case 0:
      assert_int_equal(cusparseAxpby(handle, on_alpha, x.descriptor, on_beta, y_vector), SUCCESS);
      break;
    case 1:
      assert_int_equal(cusparseGather(handle, y_vector, x.descriptor), SUCCESS);
      break;
    case 2:
      assert_int_equal(cusparseScatter(handle, x.descriptor, y_vector), SUCCESS);
      break;
    default:
      assert_int_equal(cusparseRot(handle, on_alpha, on_beta, x.descriptor, y_vector), SUCCESS);
  }
  end(handle, made);
  for (int i = 0; i < x.size; ++i) expected[i] = which == 0 ? beta * old_y[i] : old_y[i];
  for (int k = 0; k < x.nnz; ++k) {
    const int at = x.places[k];
    if (which == 0) expected[at] += alpha * old_x[k];
    if (which == 1) assert_true(get(type, x.values, k) == old_y[at]);
    if (which == 2) expected[at] = old_x[k];
    if (which == 3) {
      expected[at] = alpha * old_y[at] - beta * old_x[k];
      assert_true(is_near(type, real_sum, get(type, x.values, k),
                          alpha * old_x[k] + beta * old_y[at], 200));
    }
  }
  for (int i = 0; i < x.size; ++i) {
    assert_true(is_near(type, real_sum, get(type, y, i), expected[i], 200));
  }
  cusparseDestroyDnVec(y_vector), cusparseDestroySpVec(x.descriptor);
  cudaFree(x.indices), cudaFree(x.values), cudaFree(y), cudaFree(on_alpha), cudaFree(on_beta);
}
static void sparse_vectors_are_combined(void** state) {
  (void)state;
  for (int i = case_count(200); i-- > 0;) vector_case();
}

static void dot_case(void) {
  const int type = floats[below(4)], op = below(2) * 2, on_device = below(2);
  sparse_vector x = random_vector(type);
  void *const y = managed(16 * MOST), *const result = managed(16), *y_vector;
  wide expected = 0;
  for (int i = 0; i < x.size; ++i) set(type, y, i, random_value(type));
  for (int k = 0; k < x.nnz; ++k) {
    expected += operated(op, get(type, x.values, k)) * get(type, y, x.places[k]);
  }
  assert_int_equal(cusparseCreateDnVec(&y_vector, x.size, y, type), SUCCESS);
  assert_int_equal(cusparseSetPointerMode(handle, on_device), SUCCESS);
  assert_int_equal(cusparseSpVV(handle, op, x.descriptor, y_vector, result, type, NULL), SUCCESS);
  if (on_device) assert_int_equal(cudaDeviceSynchronize(), 0);
  assert_true(is_near(type, type, get(type, result, 0), expected, 1000));
  /* A graph stores the result wherever it is. */
  set(type, result, 0, 77);
  order made = {NULL, 1};
  assert_int_equal(cudaStreamCreate(&made.stream), 0);
  assert_int_equal(cusparseSetStream(handle, made.stream), SUCCESS);
  assert_int_equal(cudaStreamBeginCapture(made.stream, cudaStreamCaptureModeThreadLocal), 0);
  assert_int_equal(cusparseSpVV(handle, op, x.descriptor, y_vector, result, type, NULL), SUCCESS);
  end(handle, made);
  assert_true(is_near(type, type, get(type, result, 0), expected, 1000));
  cusparseDestroyDnVec(y_vector), cusparseDestroySpVec(x.descriptor);
  cudaFree(x.indices), cudaFree(x.values), cudaFree(y), cudaFree(result);
}
static void products_of_vectors(void** state) {
  (void)state;
  for (int i = case_count(50); i-- > 0;) dot_case();
}

static void to_dense_case(void) {
  static const int all[] = {R_32F, R_64F, C_32F, C_64F, R_16F, R_16BF, C_16F, C_16BF, R_8I};
  const int type = all[below(9)];
  sparse_matrix* const a = random_matrix(random_format(), type);
  dense_matrix b = new_dense(a->rows, a->cols, type, 1);
  const order made = begin(handle);
  assert_int_equal(cusparseSparseToDense(handle, a->descriptor, b.descriptor, 0, NULL), SUCCESS);
  end(handle, made);
  for (int i = 0; i < a->rows * a->cols; ++i) {
    assert_true(dense_element(&b, 0, 0, i / a->cols, i % a->cols) == a->dense[i]);
  }
  free_dense(&b), free_matrix(a);
}

static int set_pointers(sparse_matrix* m) {
  return m->format == CSR ? cusparseCsrSetPointers(m->descriptor, m->offsets, m->indices, m->values)
         : m->format == CSC
             ? cusparseCscSetPointers(m->descriptor, m->offsets, m->indices, m->values)
             : cusparseCooSetPointers(m->descriptor, m->offsets, m->indices, m->values);
}

/* A matrix made dense and sparse again is the same, byte by byte. */
static void to_sparse_case(void) {
  static const int formats[] = {CSR, CSC, COO, BLOCKED_ELL};
  const int type = floats[below(4)], format = formats[below(4)];
  sparse_matrix* const a = random_matrix(format, type);
  dense_matrix dense = new_dense(a->rows, a->cols, type, 1);
  sparse_matrix* const b = new_matrix(format, type);
  *b = (sparse_matrix){.format = format,
                       .type = type,
                       .base = a->base,
                       .rows = a->rows,
                       .cols = a->cols,
                       .offsets_type = a->offsets_type,
                       .ell_cols = a->ell_cols,
                       .indices_type = a->indices_type,
                       .row_block = a->row_block,
                       .col_block = a->col_block,
                       .offsets = b->offsets,
                       .indices = b->indices,
                       .values = b->values};
  if (format == BLOCKED_ELL) memcpy(b->indices, a->indices, 8 * MOST * MOST);
  assert_int_equal(describe(b), SUCCESS);
  assert_int_equal(cusparseSparseToDense(handle, a->descriptor, dense.descriptor, 0, NULL),
                   SUCCESS);
  assert_int_equal(cusparseDenseToSparse_analysis(handle, dense.descriptor, b->descriptor, 0, NULL),
                   SUCCESS);
  if (format != BLOCKED_ELL) {
    int64_t rows = 0, cols = 0;
    assert_int_equal(cusparseSpMatGetSize(b->descriptor, &rows, &cols, &b->nnz), SUCCESS);
    assert_int_equal(b->nnz, a->nnz);
    assert_int_equal(set_pointers(b), SUCCESS);
  }
  assert_int_equal(cusparseDenseToSparse_convert(handle, dense.descriptor, b->descriptor, 0, NULL),
                   SUCCESS);
  dense_matrix again = new_dense(a->rows, a->cols, type, 1);
  assert_int_equal(cusparseSparseToDense(handle, b->descriptor, again.descriptor, 0, NULL),
                   SUCCESS);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  for (int i = 0; i < a->rows * a->cols; ++i) {
    assert_true(dense_element(&again, 0, 0, i / a->cols, i % a->cols) == a->dense[i]);
  }
  free_dense(&dense), free_dense(&again), free_matrix(a), free_matrix(b);
}
static void dense_and_sparse_become_each_other(void** state) {
  (void)state;
  for (int i = case_count(200); i-- > 0;) to_dense_case(), to_sparse_case();
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
      cmocka_unit_test(vectors_are_solved_for),
      cmocka_unit_test(matrices_are_solved_for),
      cmocka_unit_test(sparse_matrices_are_multiplied),
      cmocka_unit_test(sparse_matrices_are_added),
      cmocka_unit_test(sparse_vectors_are_combined),
      cmocka_unit_test(products_of_vectors),
      cmocka_unit_test(dense_and_sparse_become_each_other),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
