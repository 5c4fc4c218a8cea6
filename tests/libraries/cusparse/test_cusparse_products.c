/* Products of cuSPARSE with dense operands: random formats, types, sizes and operations against
 * sums of the widest numbers. */
#include "sparse.h"

int cusparseSpMV(void*, int, const void*, const void*, const void*, const void*, void*, int, int,
                 void*);
int cusparseSpMV_bufferSize(void*, int, const void*, const void*, const void*, const void*, void*,
                            int, int, size_t*);
int cusparseSpMM(void*, int, int, const void*, const void*, const void*, const void*, void*, int,
                 int, void*);
int cusparseSpMM_bufferSize(void*, int, int, const void*, const void*, const void*, const void*,
                            void*, int, int, size_t*);
int cusparseSDDMM(void*, int, int, const void*, const void*, const void*, const void*, void*, int,
                  int, void*);
int cusparseDnMatSetStridedBatch(void*, int, int64_t);

/* The types of A, of B, of C, and of the sums. */
static const int kinds[][4] = {
    {R_32F, R_32F, R_32F, R_32F},    {R_64F, R_64F, R_64F, R_64F},   {C_32F, C_32F, C_32F, C_32F},
    {C_64F, C_64F, C_64F, C_64F},    {R_16F, R_16F, R_16F, R_32F},   {R_16F, R_16F, R_32F, R_32F},
    {R_16BF, R_16BF, R_16BF, R_32F}, {R_16BF, R_16BF, R_32F, R_32F}, {C_16F, C_16F, C_16F, C_32F},
    {C_16BF, C_16BF, C_16BF, C_32F}, {R_8I, R_8I, R_32I, R_32I},     {R_8I, R_8I, R_32F, R_32F},
    {R_32F, R_64F, R_64F, R_64F},    {R_32F, C_32F, C_32F, C_32F},   {R_64F, C_64F, C_64F, C_64F},
};
enum { KINDS = sizeof kinds / sizeof kinds[0], UNIFORM = 12 };

static void* handle;

/* alpha * op(A) * op(B) + beta * C at one place, and the magnitudes that are added. */
typedef struct {
  wide value;
  long double size;
} sum;

static sum expected_product(const sparse_matrix* a, int op_a, const dense_matrix* b, int op_b,
                            int batch, int row, int col) {
  sum all = {0, 0};
  const int inner = op_a == 0 ? a->cols : a->rows;
  for (int k = 0; k < inner; ++k) {
    const wide term = element_of(a, op_a, row, k) * dense_element(b, op_b, batch, k, col);
    all.value += term;
    all.size += cabsl(term);
  }
  return all;
}

static void multiply_case(void) {
  const int* const kind = kinds[below(UNIFORM)];
  const int op_a = below(3), op_b = below(3), cols = 1 + below(MOST), batch = 1 + below(3);
  sparse_matrix* const a = random_matrix(random_format(), kind[0]);
  const int rows = op_a == 0 ? a->rows : a->cols, inner = op_a == 0 ? a->cols : a->rows;
  dense_matrix b =
      op_b == 0 ? new_dense(inner, cols, kind[1], batch) : new_dense(cols, inner, kind[1], batch);
  dense_matrix c = new_dense(rows, cols, kind[2], batch);
  assert_int_equal(cusparseDnMatSetStridedBatch(b.descriptor, batch, b.stride), SUCCESS);
  assert_int_equal(cusparseDnMatSetStridedBatch(c.descriptor, batch, c.stride), SUCCESS);
  const wide alpha = random_value(kind[3]), beta = below(3) ? random_value(kind[3]) : 0;
  void *const on_alpha = scalar(kind[3], alpha), *const on_beta = scalar(kind[3], beta);
  dense_matrix old = c;
  old.values = malloc(bytes_of(c.type) * (size_t)(c.stride * batch + 4));
  memcpy(old.values, c.values, bytes_of(c.type) * (size_t)(c.stride * batch + 4));
  size_t size = 0;
  assert_int_equal(cusparseSetPointerMode(handle, below(2)), SUCCESS);
  const order made = begin(handle);
  assert_int_equal(cusparseSpMM_bufferSize(handle, op_a, op_b, on_alpha, a->descriptor,
                                           b.descriptor, on_beta, c.descriptor, kind[3], 0, &size),
                   SUCCESS);
  assert_int_equal(cusparseSpMM(handle, op_a, op_b, on_alpha, a->descriptor, b.descriptor, on_beta,
                                c.descriptor, kind[3], 0, NULL),
                   SUCCESS);
  end(handle, made);
  for (int s = 0; s < batch; ++s) {
    for (int i = 0; i < rows * cols; ++i) {
      const int row = i / cols, col = i % cols;
      const sum all = expected_product(a, op_a, &b, op_b, s, row, col);
      const wide before = beta == 0 ? 0 : beta * dense_element(&old, 0, s, row, col);
      assert_true(is_near(kind[2], kind[3], dense_element(&c, 0, s, row, col),
                          alpha * all.value + before, cabsl(alpha) * all.size + cabsl(before)));
    }
  }
  free(old.values);
  cudaFree(on_alpha), cudaFree(on_beta);
  free_dense(&b), free_dense(&c), free_matrix(a);
}

static void matrices_by_dense_matrices(void** state) {
  (void)state;
  for (int i = case_count(300); i-- > 0;) multiply_case();
}

static void vector_case(void) {
  const int* const kind = kinds[below(KINDS)];
  const int op = below(3);
  sparse_matrix* const a = random_matrix(random_format(), kind[0]);
  const int rows = op == 0 ? a->rows : a->cols, inner = op == 0 ? a->cols : a->rows;
  void *const x = managed(16 * MOST), *const y = managed(16 * MOST), *x_vector, *y_vector;
  wide old[MOST];
  for (int i = 0; i < inner; ++i) set(kind[1], x, i, random_value(kind[1]));
  for (int i = 0; i < rows; ++i) set(kind[2], y, i, old[i] = random_value(kind[2]));
  assert_int_equal(cusparseCreateDnVec(&x_vector, inner, x, kind[1]), SUCCESS);
  assert_int_equal(cusparseCreateDnVec(&y_vector, rows, y, kind[2]), SUCCESS);
  const wide alpha = random_value(kind[3]), beta = below(3) ? random_value(kind[3]) : 0;
  void *const on_alpha = scalar(kind[3], alpha), *const on_beta = scalar(kind[3], beta);
  assert_int_equal(cusparseSetPointerMode(handle, below(2)), SUCCESS);
  const order made = begin(handle);
  assert_int_equal(cusparseSpMV(handle, op, on_alpha, a->descriptor, x_vector, on_beta, y_vector,
                                kind[3], 0, NULL),
                   SUCCESS);
  end(handle, made);
  for (int row = 0; row < rows; ++row) {
    wide all = beta == 0 ? 0 : beta * old[row];
    long double size = cabsl(all);
    for (int k = 0; k < inner; ++k) {
      const wide term = alpha * element_of(a, op, row, k) * get(kind[1], x, k);
      all += term;
      size += cabsl(term);
    }
    assert_true(is_near(kind[2], kind[3], get(kind[2], y, row), all, size));
  }
  cusparseDestroyDnVec(x_vector), cusparseDestroyDnVec(y_vector);
  cudaFree(x), cudaFree(y), cudaFree(on_alpha), cudaFree(on_beta);
  free_matrix(a);
}

static void matrices_by_vectors(void** state) {
  (void)state;
  for (int i = case_count(500); i-- > 0;) vector_case();
}

static void sampled_case(void) {
  const int* const kind = kinds[below(8)];
  const int op_a = below(3), op_b = below(3), inner = 1 + below(MOST);
  sparse_matrix* const c = random_matrix(random_format(), kind[2]);
  dense_matrix a =
      op_a == 0 ? new_dense(c->rows, inner, kind[0], 1) : new_dense(inner, c->rows, kind[0], 1);
  dense_matrix b =
      op_b == 0 ? new_dense(inner, c->cols, kind[0], 1) : new_dense(c->cols, inner, kind[0], 1);
  const wide alpha = random_value(kind[3]), beta = below(3) ? random_value(kind[3]) : 0;
  void *const on_alpha = scalar(kind[3], alpha), *const on_beta = scalar(kind[3], beta);
  assert_int_equal(cusparseSetPointerMode(handle, below(2)), SUCCESS);
  const order made = begin(handle);
  assert_int_equal(cusparseSDDMM(handle, op_a, op_b, on_alpha, a.descriptor, b.descriptor, on_beta,
                                 c->descriptor, kind[3], 0, NULL),
                   SUCCESS);
  end(handle, made);
  /* What CSR has is compared; the other formats share the visits of entries with SpMM. */
  for (int64_t row = 0; c->format == CSR && row < c->rows; ++row) {
    const int64_t last = get_index(c->offsets_type, c->offsets, row + 1) - c->base;
    for (int64_t k = get_index(c->offsets_type, c->offsets, row) - c->base; k < last; ++k) {
      const int col = (int)(get_index(c->indices_type, c->indices, k) - c->base);
      wide all = 0;
      long double size = 0;
      for (int i = 0; i < inner; ++i) {
        const wide term =
            dense_element(&a, op_a, 0, (int)row, i) * dense_element(&b, op_b, 0, i, col);
        all += term;
        size += cabsl(term);
      }
      const wide before = beta * c->dense[row * c->cols + col];
      assert_true(is_near(kind[2], kind[3], get(kind[2], c->values, k), alpha * all + before,
                          cabsl(alpha) * size + cabsl(before)));
    }
  }
  cudaFree(on_alpha), cudaFree(on_beta);
  free_dense(&a), free_dense(&b), free_matrix(c);
}

static void dense_products_at_entries(void** state) {
  (void)state;
  for (int i = case_count(200); i-- > 0;) sampled_case();
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
      cmocka_unit_test(matrices_by_dense_matrices),
      cmocka_unit_test(matrices_by_vectors),
      cmocka_unit_test(dense_products_at_entries),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
