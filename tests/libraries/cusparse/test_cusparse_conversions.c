/* Conversions between sparse formats, products by SpMVOp, and products that do not fit into memory.
 */
#include "sparse.h"

int cusparseSpMatConvertDescrCreate(void**);
int cusparseSpMatConvertDescrDestroy(void*);
int cusparseSpMatConvert_bufferSize(void*, int, const void*, void*, int, int, void*, size_t*);
int cusparseSpMatConvert_analysis(void*, int, const void*, void*, int, int, void*, void*);
int cusparseSpMatConvert(void*, int, const void*, void*, int, int, void*, void*);
int cusparseSpMatGetSize(const void*, int64_t*, int64_t*, int64_t*);
int cusparseSparseToDense(void*, const void*, void*, int, void*);
int cusparseSpMVOp_bufferSize(void*, int, const void*, const void*, void*, void*, int, int,
                              size_t*);
int cusparseSpMVOp_createDescr(void*, void**, int, const void*, const void*, void*, void*, int, int,
                               void*);
int cusparseSpMVOp_destroyDescr(void*);
int cusparseSpMVOp_createPlan(void*, void*, void**, const void*, size_t);
int cusparseSpMVOp_destroyPlan(void*);
int cusparseSpMVOp_setGlobalUserData(void*, void*, const char*, void*, size_t);
int cusparseSpMVOp(void*, void*, const void*, const void*, const void*, const void*, void*);
int cusparseSpGEMM_createDescr(void**);
int cusparseSpGEMM_destroyDescr(void*);
int cusparseSpGEMM_compute(void*, int, int, const void*, const void*, const void*, const void*,
                           void*, int, int, void*, size_t*, void*);
enum { SYMBOLIC, NUMERIC, INSUFFICIENT_RESOURCES = 11 };

static void* handle;

/* An element that is stored in the result: line and index as CSR has them. */
static void read_lines(const sparse_matrix* m, wide* dense) {
  const int lines = m->format == CSC ? m->cols : m->rows;
  const int64_t count = m->format == COO ? m->nnz : lines;
  for (int64_t line = 0; line < count; ++line) {
    const int64_t at = get_index(m->offsets_type, m->offsets, line) - m->base;
    const int64_t end =
        m->format == COO ? 0 : get_index(m->offsets_type, m->offsets, line + 1) - m->base;
    int64_t before = -1;
    for (int64_t k = m->format == COO ? line : at; k < (m->format == COO ? line + 1 : end); ++k) {
      const int64_t index = get_index(m->indices_type, m->indices, k) - m->base;
      const int64_t row = m->format == COO ? at : m->format == CSC ? index : line;
      const int64_t col = m->format == CSC ? line : index;
      assert_true(m->format == COO || index > before); /* sorted */
      before = index;
      dense[row * m->cols + col] += get(m->type, m->values, k);
    }
  }
}
static void read_blocks(const sparse_matrix* m, wide* dense) {
  const int rb = m->row_block, cb = m->col_block;
  for (int line = 0; line < m->rows / rb; ++line) {
    const int64_t end = get_index(m->offsets_type, m->offsets, line + 1) - m->base;
    for (int64_t k = get_index(m->offsets_type, m->offsets, line) - m->base; k < end; ++k) {
      const int64_t col = get_index(m->indices_type, m->indices, k) - m->base;
      for (int i = 0; i < rb * cb; ++i) {
        const int row_in = m->order == BY_ROW ? i / cb : i % rb;
        const int col_in = m->order == BY_ROW ? i % cb : i / rb;
        dense[(line * rb + row_in) * m->cols + col * cb + col_in] +=
            get(m->type, m->values, k * rb * cb + i);
      }
    }
  }
}

/* An empty matrix that has the sizes of op(from), or null if blocks do not fit. */
static sparse_matrix* result_for(const sparse_matrix* from, int op, int format) {
  sparse_matrix* const to = new_matrix(format, from->type);
  to->rows = op == 0 ? from->rows : from->cols;
  to->cols = op == 0 ? from->cols : from->rows;
  while (to->rows % to->row_block != 0) --to->row_block;
  while (to->cols % to->col_block != 0) --to->col_block;
  to->nnz = 0;
  assert_int_equal(describe(to), SUCCESS);
  return to;
}

static void conversion_case(void) {
  static const int types[] = {R_32F, R_64F, R_16F, R_16BF, R_8I, C_32F, C_64F, C_16F};
  static const int targets[] = {CSR, CSC, COO, BSR};
  const int type = types[below(8)], op = below(3), format = targets[below(4)];
  sparse_matrix* const from = random_matrix(random_format(), type);
  sparse_matrix* const to = result_for(from, op, format);
  void* descriptor = NULL;
  size_t size = 0;
  int64_t rows = 0, cols = 0;
  assert_int_equal(cusparseSpMatConvertDescrCreate(&descriptor), SUCCESS);
  assert_int_equal(cusparseSpMatConvert_bufferSize(handle, op, from->descriptor, to->descriptor,
                                                   NUMERIC, 0, descriptor, &size),
                   SUCCESS);
  assert_int_equal(cusparseSpMatConvert(handle, op, from->descriptor, to->descriptor, NUMERIC, 0,
                                        descriptor, NULL),
                   INVALID_VALUE); /* before the analysis */
  assert_int_equal(cusparseSpMatConvert_analysis(handle, op, from->descriptor, to->descriptor,
                                                 NUMERIC, 0, descriptor, NULL),
                   SUCCESS);
  assert_int_equal(cusparseSpMatGetSize(to->descriptor, &rows, &cols, &to->nnz), SUCCESS);
  const order made = begin(handle);
  assert_int_equal(cusparseSpMatConvert(handle, op, from->descriptor, to->descriptor, NUMERIC, 0,
                                        descriptor, NULL),
                   SUCCESS);
  end(handle, made);
  wide* const dense = calloc(MOST * MOST, sizeof *dense);
  (format == BSR ? read_blocks : read_lines)(to, dense);
  for (int row = 0; row < to->rows; ++row) {
    for (int col = 0; col < to->cols; ++col) {
      assert_true(dense[row * to->cols + col] == element_of(from, op, row, col));
    }
  }
  free(dense);
  assert_int_equal(cusparseSpMatConvertDescrDestroy(descriptor), SUCCESS);
  free_matrix(from), free_matrix(to);
}

static void formats_are_converted(void** state) {
  (void)state;
  for (int i = 0; i < case_count(300); ++i) conversion_case();
}

static void wrong_conversions_are_errors(void** state) {
  (void)state;
  sparse_matrix* const from = random_matrix(CSR, R_32F);
  sparse_matrix* const to = result_for(from, 0, CSC);
  sparse_matrix* const other = result_for(from, 1, CSC);
  void* descriptor = NULL;
  assert_int_equal(cusparseSpMatConvertDescrCreate(&descriptor), SUCCESS);
  const void* const a = from->descriptor;
  void* const b = to->descriptor;
  assert_int_equal(cusparseSpMatConvert_analysis(handle, 9, a, b, 1, 0, descriptor, NULL),
                   INVALID_VALUE);
  assert_int_equal(cusparseSpMatConvert_analysis(handle, 0, a, b, 2, 0, descriptor, NULL),
                   INVALID_VALUE);
  assert_int_equal(cusparseSpMatConvert_analysis(handle, 0, a, b, 1, 3, descriptor, NULL),
                   INVALID_VALUE);
  assert_int_equal(cusparseSpMatConvert_analysis(handle, 0, a, b, 1, 0, (void*)77, NULL),
                   INVALID_VALUE);
  assert_int_equal(cusparseSpMatConvert_analysis(handle, 0, NULL, b, 1, 0, descriptor, NULL),
                   INVALID_VALUE);
  const int fits = from->rows == from->cols;
  assert_int_equal(
      cusparseSpMatConvert_analysis(handle, 0, a, other->descriptor, 1, 0, descriptor, NULL),
      fits ? SUCCESS : INVALID_VALUE);
  assert_int_equal(cusparseSpMatConvertDescrDestroy(descriptor), SUCCESS);
  assert_int_equal(cusparseSpMatConvertDescrDestroy(descriptor), INVALID_VALUE);
  free_matrix(from), free_matrix(to), free_matrix(other);
}

/* z = alpha * op(A) * x + beta * y, by a plan without code. */
static void operation_case(void) {
  static const int types[] = {R_32F, R_64F, C_32F, C_64F};
  const int type = types[below(4)], op = below(3);
  sparse_matrix* const a = random_matrix(random_format(), type);
  const int rows = op == 0 ? a->rows : a->cols, cols = op == 0 ? a->cols : a->rows;
  void *vectors[3], *values[3], *descriptor = NULL, *plan = NULL;
  const int sizes[3] = {cols, rows, rows};
  for (int i = 0; i < 3; ++i) {
    values[i] = managed(16 * MOST);
    for (int k = 0; k < sizes[i]; ++k) set(type, values[i], k, random_value(type));
    assert_int_equal(cusparseCreateDnVec(&vectors[i], sizes[i], values[i], type), SUCCESS);
  }
  const wide alpha = random_value(type), beta = random_value(type);
  void *const on_alpha = scalar(type, alpha), *const on_beta = scalar(type, beta);
  size_t size = 0;
  assert_int_equal(cusparseSpMVOp_bufferSize(handle, op, a->descriptor, vectors[0], vectors[1],
                                             vectors[2], type, 0, &size),
                   SUCCESS);
  assert_int_equal(cusparseSpMVOp_createDescr(handle, &descriptor, op, a->descriptor, vectors[0],
                                              vectors[1], vectors[2], type, 0, NULL),
                   SUCCESS);
  assert_int_equal(cusparseSpMVOp_createPlan(handle, descriptor, &plan, "code", 4), NOT_SUPPORTED);
  assert_int_equal(cusparseSpMVOp_createPlan(handle, descriptor, &plan, NULL, 0), SUCCESS);
  assert_int_equal(cusparseSpMVOp_setGlobalUserData(handle, plan, "x", values[0], 4),
                   INVALID_VALUE);
  assert_int_equal(cusparseSpMVOp_destroyDescr(descriptor), SUCCESS);
  const order made = begin(handle);
  assert_int_equal(
      cusparseSpMVOp(handle, plan, on_alpha, on_beta, vectors[0], vectors[1], vectors[2]), SUCCESS);
  end(handle, made);
  for (int row = 0; row < rows; ++row) {
    wide sum = beta * get(type, values[1], row);
    long double added = cabsl(sum);
    for (int col = 0; col < cols; ++col) {
      const wide term = alpha * element_of(a, op, row, col) * get(type, values[0], col);
      sum += term;
      added += cabsl(term);
    }
    assert_true(is_near(type, type, get(type, values[2], row), sum, added));
  }
  assert_int_equal(cusparseSpMVOp_destroyPlan(plan), SUCCESS);
  assert_int_equal(
      cusparseSpMVOp(handle, plan, on_alpha, on_beta, vectors[0], vectors[1], vectors[2]),
      INVALID_VALUE);
  for (int i = 0; i < 3; ++i) {
    assert_int_equal(cusparseDestroyDnVec(vectors[i]), SUCCESS);
    cudaFree(values[i]);
  }
  cudaFree(on_alpha), cudaFree(on_beta);
  free_matrix(a);
}

static void operations_without_code_are_products(void** state) {
  (void)state;
  for (int i = 0; i < case_count(100); ++i) operation_case();
}

/* A column of 300,000 elements times a row of as many: 9e10 entries. */
static void products_that_are_too_large_are_refused(void** state) {
  (void)state;
  enum { COUNT = 300000 };
  int32_t* const index = managed(4 * (COUNT + 1));
  int32_t* const zeros = managed(4 * COUNT);
  int32_t* const whole = managed(8);
  float* const values = managed(4 * COUNT);
  for (int i = 0; i <= COUNT; ++i) index[i] = i;
  for (int i = 0; i < COUNT; ++i) zeros[i] = 0, values[i] = 1;
  whole[0] = 0, whole[1] = COUNT;
  void *a, *b, *c, *product;
  assert_int_equal(
      cusparseCreateCsr(&a, COUNT, 1, COUNT, index, zeros, values, INDEX_32, INDEX_32, 0, R_32F),
      0);
  assert_int_equal(
      cusparseCreateCsr(&b, 1, COUNT, COUNT, whole, index, values, INDEX_32, INDEX_32, 0, R_32F),
      0);
  assert_int_equal(
      cusparseCreateCsr(&c, COUNT, COUNT, 0, index, NULL, NULL, INDEX_32, INDEX_32, 0, R_32F), 0);
  assert_int_equal(cusparseSpGEMM_createDescr(&product), 0);
  const float alpha = 1, beta = 0;
  size_t size = 16;
  char* const buffer = managed(16);
  assert_int_equal(cusparseSpGEMM_compute(handle, 0, 0, &alpha, a, b, &beta, c, R_32F, 0, product,
                                          &size, buffer),
                   INSUFFICIENT_RESOURCES);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  assert_int_equal(cusparseSpGEMM_destroyDescr(product), 0);
  assert_int_equal(cusparseDestroySpMat(a), 0);
  assert_int_equal(cusparseDestroySpMat(b), 0);
  assert_int_equal(cusparseDestroySpMat(c), 0);
  cudaFree(index), cudaFree(zeros), cudaFree(whole), cudaFree(values), cudaFree(buffer);
}

static int begin_tests(void** state) {
  (void)state;
  return cusparseCreate(&handle);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(formats_are_converted),
      cmocka_unit_test(wrong_conversions_are_errors),
      cmocka_unit_test(operations_without_code_are_products),
      cmocka_unit_test(products_that_are_too_large_are_refused),
  };
  return cmocka_run_group_tests(tests, begin_tests, NULL);
}
