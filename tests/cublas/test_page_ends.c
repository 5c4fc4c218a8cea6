/* Complex products with vectors where memory of the program ends: OpenBLAS's own routines read up
 * to a register behind their arrays. */
#include "support.h"

#include <complex.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>

int cublasZhemv_v2(cublasHandle_t, int, int, const c64*, const c64*, int, const c64*, int,
                   const c64*, c64*, int);
int cublasChemv_v2(cublasHandle_t, int, int, const c32*, const c32*, int, const c32*, int,
                   const c32*, c32*, int);

enum { PAGES = 3, PAGE = 4096, MOST = 20 };
static char* g_ends[3]; /* behind registered memory there is none */

static int map_arrays(void** state) {
  for (int i = 0; i < 3; ++i) {
    char* const pages = mmap(NULL, PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return 1;
    if (mprotect(pages, (PAGES - 1) * PAGE, PROT_READ | PROT_WRITE) != 0) return 1;
    if (cudaHostRegister(pages, (PAGES - 1) * PAGE, 0) != 0) return 1;
    g_ends[i] = pages + (PAGES - 1) * PAGE;
  }
  (void)state;
  return 0;
}

typedef struct {
  int is_double, step, count;
  void* data;
} array;
static array array_at(int which, int is_double, int count, int step) {
  const int span = count == 0 ? 0 : (count - 1) * (step < 0 ? -step : step) + 1;
  array made = {is_double, step, count, g_ends[which] - span * (is_double ? 16 : 8)};
  memset(made.data, 0x7f, (size_t)span * (is_double ? 16 : 8));
  return made;
}
static int64_t place(const array* a, int i) {
  return (int64_t)a->step * (a->step < 0 ? i - (a->count - 1) : i);
}
static void set_value(const array* a, int i, double _Complex value) {
  if (a->is_double) {
    ((double _Complex*)a->data)[place(a, i)] = value;
  } else {
    ((float _Complex*)a->data)[place(a, i)] = (float _Complex)value;
  }
}
static double _Complex value_at(const array* a, int i) {
  return a->is_double ? ((double _Complex*)a->data)[place(a, i)]
                      : ((float _Complex*)a->data)[place(a, i)];
}
static uint64_t g_seed = 88172645463325252;
static int below(int count) {
  g_seed ^= g_seed << 13, g_seed ^= g_seed >> 7, g_seed ^= g_seed << 17;
  return (int)(g_seed % (uint64_t)count);
}
/* Small whole numbers: all sums are exact. */
static double _Complex whole_number(void) { return below(9) - 4 + (below(9) - 4) * _Complex_I; }

static int random_step(void) {
  const int step = 1 + below(2);
  return below(2) ? step : -step;
}

/* An element of op(A), or of the Hermitian matrix whose triangle A holds. */
static double _Complex product_element(const array* a, int rows, int op, int is_upper, int i,
                                       int j) {
  if (op == 3) {
    if (i == j) return creal(value_at(a, i + j * rows));
    const int is_stored = is_upper ? i < j : i > j;
    return is_stored ? value_at(a, i + j * rows) : conj(value_at(a, j + i * rows));
  }
  if (op == OP_N) return value_at(a, i + j * rows);
  return op == OP_T ? value_at(a, j + i * rows) : conj(value_at(a, j + i * rows));
}

static void product_case(void) {
  const int is_double = below(2), op = below(4), is_upper = below(2);
  const int rows = 1 + below(MOST), columns = op == 3 ? rows : 1 + below(MOST);
  const int is_plain = op == OP_N || op == 3;
  const int in = is_plain ? columns : rows, out = is_plain ? rows : columns;
  const array a = array_at(0, is_double, rows * columns, 1);
  const array x = array_at(1, is_double, in, random_step());
  const array y = array_at(2, is_double, out, random_step());
  double _Complex wanted[MOST];
  for (int i = 0; i < rows * columns; ++i) set_value(&a, i, whole_number());
  for (int i = 0; i < in; ++i) set_value(&x, i, whole_number());
  const double _Complex alpha = whole_number(), beta = whole_number();
  for (int i = 0; i < out; ++i) {
    set_value(&y, i, whole_number());
    wanted[i] = beta * value_at(&y, i);
    for (int j = 0; j < in; ++j) {
      wanted[i] += alpha * product_element(&a, rows, op, is_upper, i, j) * value_at(&x, j);
    }
  }
  const c64 z[] = {{creal(alpha), cimag(alpha)}, {creal(beta), cimag(beta)}};
  const c32 c[] = {{(float)z[0].x, (float)z[0].y}, {(float)z[1].x, (float)z[1].y}};
  if (op == 3 && is_double) {
    OK(cublasZhemv_v2(handle, is_upper, rows, &z[0], a.data, rows, x.data, x.step, &z[1], y.data,
                      y.step));
  } else if (op == 3) {
    OK(cublasChemv_v2(handle, is_upper, rows, &c[0], a.data, rows, x.data, x.step, &c[1], y.data,
                      y.step));
  } else if (is_double) {
    OK(cublasZgemv_v2(handle, op, rows, columns, &z[0], a.data, rows, x.data, x.step, &z[1], y.data,
                      y.step));
  } else {
    OK(cublasCgemv_v2(handle, op, rows, columns, &c[0], a.data, rows, x.data, x.step, &c[1], y.data,
                      y.step));
  }
  assert_int_equal(cudaDeviceSynchronize(), 0);
  for (int i = 0; i < out; ++i) assert_true(value_at(&y, i) == wanted[i]);
}

static void complex_vectors_may_end_with_a_page(void** state) {
  (void)state;
  for (int i = 0; i < 1000; ++i) product_case();
}

int main(void) {
  const struct CMUnitTest tests[] = {TEST(complex_vectors_may_end_with_a_page)};
  return cmocka_run_group_tests(tests, map_arrays, NULL);
}
