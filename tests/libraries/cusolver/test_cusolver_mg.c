/* cusolverMg on two devices: matrices that are distributed by blocks of columns. */
/* The functions of libcusolver that the shared header names are not used. */
#define KM_SOLVER_TEST_WITHOUT_HANDLES
#include "solver_test.h"

int cusolverMgCreate(void**);
int cusolverMgDestroy(void*);
int cusolverMgDeviceSelect(void*, int, int*);
int cusolverMgCreateDeviceGrid(void**, int32_t, int32_t, const int32_t*, int);
int cusolverMgDestroyGrid(void*);
int cusolverMgCreateMatrixDesc(void**, int64_t, int64_t, int64_t, int64_t, int, void*);
int cusolverMgDestroyMatrixDesc(void*);
int cusolverMgPotrf(void*, int, int, void**, int, int, void*, int, void**, int64_t, int*);
int cusolverMgPotri(void*, int, int, void**, int, int, void*, int, void**, int64_t, int*);
int cusolverMgPotrs(void*, int, int, int, void**, int, int, void*, void**, int, int, void*, int,
                    void**, int64_t, int*);
int cusolverMgGetrf(void*, int, int, void**, int, int, void*, int**, int, void**, int64_t, int*);
int cusolverMgGetrs(void*, int, int, int, void**, int, int, void*, int**, void**, int, int, void*,
                    int, void**, int64_t, int*);
int cusolverMgSyevd(void*, int, int, int, void**, int, int, void*, void*, int, int, void**, int64_t,
                    int*);
int cusolverMgSyevd_bufferSize(void*, int, int, int, void**, int, int, void*, void*, int, int,
                               int64_t*);

enum { DEVICES = 2, BLOCK = 3 };

static void* handle;
static void* grid;

/* A matrix's columns on its devices. */
typedef struct {
  void *description, *places[DEVICES];
  int type, m, n;
} distributed;

static void* column(const distributed* a, int j) {
  const int place = j / BLOCK / DEVICES * BLOCK + j % BLOCK;
  return (char*)a->places[j / BLOCK % DEVICES] + sizes[a->type] * (size_t)(place * a->m);
}
static distributed new_matrix(int type, int m, int n) {
  distributed a = {NULL, {NULL}, type, m, n};
  assert_int_equal(
      cusolverMgCreateMatrixDesc(&a.description, m, n, m, BLOCK, data_types[type], grid), OK);
  for (int i = 0; i < DEVICES; ++i) {
    assert_int_equal(cudaSetDevice(i), 0);
    a.places[i] = random_matrix(type, m, n + BLOCK, m);
  }
  assert_int_equal(cudaSetDevice(0), 0);
  return a;
}
static dense gather(const distributed* a) {
  dense full = zeros(a->m, a->n);
  for (int j = 0; j < a->n; ++j) {
    for (int i = 0; i < a->m; ++i) *at(full, i, j) = get(a->type, column(a, j), (size_t)i);
  }
  return full;
}

static void systems(void** state) {
  (void)state;
  for (int i = 0; i < case_count(24); ++i) {
    const int type = i % TYPES, n = 1 + random_below(20), nrhs = 1 + random_below(8),
              code = data_types[type];
    distributed a = new_matrix(type, n, n), b = new_matrix(type, n, nrhs);
    const int is_positive = random_below(2);
    int info = -1;
    if (is_positive) {
      for (int j = 0; j < n; ++j) {
        for (int k = 0; k < j; ++k)
          set(type, column(&a, k), (size_t)j, conjl(get(type, column(&a, j), (size_t)k)));
        set(type, column(&a, j), (size_t)j, 3 * n);
      }
    }
    const dense full = gather(&a), right = gather(&b);
    int* pivots[DEVICES] = {managed(4 * 32), managed(4 * 32)};
    if (is_positive) {
      assert_int_equal(
          cusolverMgPotrf(handle, LOWER, n, a.places, 1, 1, a.description, code, NULL, 0, &info),
          OK);
      assert_int_equal(info, 0);
      assert_int_equal(cusolverMgPotrs(handle, LOWER, n, nrhs, a.places, 1, 1, a.description,
                                       b.places, 1, 1, b.description, code, NULL, 0, &info),
                       OK);
    } else {
      assert_int_equal(cusolverMgGetrf(handle, n, n, a.places, 1, 1, a.description, pivots, code,
                                       NULL, 0, &info),
                       OK);
      assert_int_equal(info, 0);
      assert_int_equal(cusolverMgGetrs(handle, OP_N, n, nrhs, a.places, 1, 1, a.description, pivots,
                                       b.places, 1, 1, b.description, code, NULL, 0, &info),
                       OK);
    }
    assert_int_equal(info, 0);
    const dense x = gather(&b);
    check_near("distributed A X", type, multiply(full, OP_N, x, OP_N), right, n,
               norm(full) * norm(x) * n);
    if (is_positive) {
      assert_int_equal(
          cusolverMgPotri(handle, LOWER, n, a.places, 1, 1, a.description, code, NULL, 0, &info),
          OK);
      const dense inverse = reflect(gather(&a), LOWER, 1);
      check_near("distributed inverse", type, multiply(full, OP_N, inverse, OP_N), identity(n), n,
                 1);
    } else if (n > 1) {
      pivots[0][0] = n + 1;
      assert_int_equal(cusolverMgGetrs(handle, OP_N, n, nrhs, a.places, 1, 1, a.description, pivots,
                                       b.places, 1, 1, b.description, code, NULL, 0, &info),
                       INVALID_VALUE);
    }
    assert_int_equal(cusolverMgDestroyMatrixDesc(a.description), OK);
    assert_int_equal(cusolverMgDestroyMatrixDesc(a.description), INVALID_VALUE);
  }
}

static void eigenvalues(void** state) {
  (void)state;
  for (int i = 0; i < case_count(16); ++i) {
    const int type = i % TYPES, n = 1 + random_below(16), code = data_types[type];
    distributed a = new_matrix(type, n, n);
    const dense full = reflect(gather(&a), LOWER, 1);
    double w[16];
    int info = -1;
    int64_t size = 0;
    const int w_code = data_types[real_type(type)];
    assert_int_equal(cusolverMgSyevd_bufferSize(handle, 1, LOWER, n, a.places, 1, 1, a.description,
                                                w, w_code, code, &size),
                     OK);
    assert_true(size > 0);
    assert_int_equal(cusolverMgSyevd(handle, 1, LOWER, n, a.places, 1, 1, a.description, w, w_code,
                                     code, NULL, size, &info),
                     OK);
    assert_int_equal(info, 0);
    const dense v = gather(&a);
    dense d = zeros(n, n);
    for (int k = 0; k < n; ++k) *at(d, k, k) = get(real_type(type), w, (size_t)k);
    check_near("distributed A V", type, multiply(full, OP_N, v, OP_N), multiply(v, OP_N, d, OP_N),
               n, norm(full));
  }
}

static void wrong_arguments_are_refused(void** state) {
  (void)state;
  distributed a = new_matrix(F64, 5, 5);
  int info = 0, devices[] = {0, 7};
  void* other = NULL;
  assert_int_equal(
      cusolverMgPotrf(handle, LOWER, 6, a.places, 1, 1, a.description, 1, NULL, 0, &info),
      INVALID_VALUE);
  assert_int_equal(
      cusolverMgPotrf(handle, LOWER, 5, a.places, 1, 2, a.description, 1, NULL, 0, &info),
      INVALID_VALUE);
  assert_int_equal(
      cusolverMgPotrf(handle, LOWER, 5, a.places, 1, 1, a.description, 0, NULL, 0, &info),
      INVALID_VALUE);
  assert_int_equal(cusolverMgPotrf(handle, LOWER, 5, a.places, 1, 1, grid, 1, NULL, 0, &info),
                   INVALID_VALUE);
  assert_int_equal(cusolverMgPotrf(handle, LOWER, 5, NULL, 1, 1, a.description, 1, NULL, 0, &info),
                   INVALID_VALUE);
  assert_int_equal(
      cusolverMgPotrf(grid, LOWER, 5, a.places, 1, 1, a.description, 1, NULL, 0, &info),
      NOT_INITIALIZED);
  assert_int_equal(cusolverMgDeviceSelect(handle, 2, devices), INVALID_VALUE);
  assert_int_equal(cusolverMgCreateDeviceGrid(&other, 2, 2, devices, 0), INVALID_VALUE);
  assert_int_equal(cusolverMgCreateMatrixDesc(&other, 5, 5, 2, 2, 1, grid), NOT_SUPPORTED);
  void* wild[] = {(void*)8, (void*)8};
  assert_int_equal(cusolverMgPotrf(handle, LOWER, 5, wild, 1, 1, a.description, 1, NULL, 0, &info),
                   INVALID_VALUE);
}

static int set_up(void** state) {
  (void)state;
  int devices[] = {0, 1};
  assert_int_equal(cusolverMgCreate(&handle), OK);
  assert_int_equal(cusolverMgDeviceSelect(handle, DEVICES, devices), OK);
  assert_int_equal(cusolverMgCreateDeviceGrid(&grid, 1, DEVICES, devices, 1), OK);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(systems),
      cmocka_unit_test(eigenvalues),
      cmocka_unit_test(wrong_arguments_are_refused),
  };
  return cmocka_run_group_tests(tests, set_up, NULL);
}
