/* Solvers of cuSOLVER with iterative refinement, its settings, its log and cusolverMg. */
#include "solver_test.h"

/* clang-format off */
#define PAIRS(P) \
  P(ZZ, 3) P(ZC, 3) P(ZK, 3) P(ZE, 3) P(ZY, 3) P(CC, 2) \
  P(CK, 2) P(CE, 2) P(CY, 2) P(DD, 1) P(DS, 1) P(DH, 1) \
  P(DB, 1) P(DX, 1) P(SS, 0) P(SH, 0) P(SB, 0) P(SX, 0)
/* clang-format on */
typedef int gesv(void*, int, int, void*, int, int*, void*, int, void*, int, void*, size_t, int*,
                 int*);
typedef int gels(void*, int, int, int, void*, int, void*, int, void*, int, void*, size_t, int*,
                 int*);
#define DECLARE_PAIR(letters, type) \
  gesv cusolverDn##letters##gesv;   \
  gels cusolverDn##letters##gels;
PAIRS(DECLARE_PAIR)
static const struct {
  gesv* solve;
  gels* fit;
  int type;
} pairs[] = {
#define PAIR(letters, type) {cusolverDn##letters##gesv, cusolverDn##letters##gels, type},
    PAIRS(PAIR)};

int cusolverDnIRSParamsCreate(void**);
int cusolverDnIRSParamsDestroy(void*);
int cusolverDnIRSParamsSetSolverPrecisions(void*, int, int);
int cusolverDnIRSParamsSetRefinementSolver(void*, int);
int cusolverDnIRSParamsSetMaxIters(void*, int);
int cusolverDnIRSParamsGetMaxIters(void*, int*);
int cusolverDnIRSInfosCreate(void**);
int cusolverDnIRSInfosDestroy(void*);
int cusolverDnIRSInfosRequestResidual(void*);
int cusolverDnIRSInfosGetNiters(void*, int*);
int cusolverDnIRSInfosGetMaxIters(void*, int*);
int cusolverDnIRSInfosGetResidualHistory(void*, void**);
int cusolverDnIRSXgesv(void*, void*, void*, int, int, void*, int, void*, int, void*, int, void*,
                       size_t, int*, int*);
int cusolverDnIRSXgels(void*, void*, void*, int, int, int, void*, int, void*, int, void*, int,
                       void*, size_t, int*, int*);
int cusolverDnIRSXgesv_bufferSize(void*, void*, int, int, size_t*);
int cusolverDnLoggerSetCallback(void (*)(int, const char*, const char*));
int cusolverDnLoggerSetLevel(int);
int cusolverDnLoggerSetMask(int);
int cusolverDnSetDeterministicMode(void*, int);
int cusolverDnGetDeterministicMode(void*, int*);
int cusolverDnCreateParams(void**);
int cusolverDnDestroyParams(void*);
int cusolverDnSetAdvOptions(void*, int, int);
int cusolverGetVersion(int*);
int cusolverGetProperty(int, int*);
int cusolverDnGetStream(void*, cudaStream_t*);

static void* handle;
static int* info;

static void systems_are_solved(void** state) {
  (void)state;
  for (int i = 0; i < case_count(72); ++i) {
    const int pair = i % 18, type = pairs[pair].type, n = random_below(20), m = n + random_below(8),
              nrhs = random_below(4);
    const int is_square = random_below(2), rows = is_square ? n : m, lda = rows + 1, ldx = n + 1;
    void *a = random_matrix(type, rows, n, lda), *b = random_matrix(type, rows, nrhs, lda),
         *x = random_matrix(type, n, nrhs, ldx);
    const dense full = load(type, a, rows, n, lda), right = load(type, b, rows, nrhs, lda);
    int* pivots = managed(4 * 32);
    int iterations = -7;
    if (is_square) {
      assert_int_equal(pairs[pair].solve(handle, n, nrhs, a, lda, pivots, b, lda, x, ldx, NULL, 0,
                                         &iterations, info),
                       OK);
    } else {
      assert_int_equal(
          pairs[pair].fit(handle, m, n, nrhs, a, lda, b, lda, x, ldx, NULL, 0, &iterations, info),
          OK);
    }
    assert_int_equal(iterations, 0);
    assert_int_equal(*info, 0);
    assert_true(distance(load(type, a, rows, n, lda), full) == 0);
    assert_true(distance(load(type, b, rows, nrhs, lda), right) == 0);
    check_padding(type, x, n, nrhs, ldx);
    dense found = load(type, x, n, nrhs, ldx), rest = multiply(full, OP_N, found, OP_N);
    for (int k = 0; k < rows * nrhs; ++k) rest.v[k] -= right.v[k];
    const dense orthogonal = is_square ? rest : multiply(full, OP_C, rest, OP_N);
    check_small("rest", type, norm(orthogonal), m,
                norm(full) * (norm(full) + 1) * (norm(found) + norm(right)));
  }
}

static void expert_settings(void** state) {
  (void)state;
  void *params = NULL, *infos = NULL, *history = NULL;
  int count = 0, iterations = 0;
  assert_int_equal(cusolverDnIRSParamsCreate(&params), OK);
  assert_int_equal(cusolverDnIRSInfosCreate(&infos), OK);
  const int n = 6;
  double *a = random_matrix(F64, n, n, n), *b = random_matrix(F64, n, 2, n),
         *x = random_matrix(F64, n, 2, n);
  const dense full = load(F64, a, n, n, n), right = load(F64, b, n, 2, n);
  assert_int_equal(
      cusolverDnIRSXgesv(handle, params, infos, n, 2, a, n, b, n, x, n, NULL, 0, &iterations, info),
      14);
  assert_int_equal(cusolverDnIRSParamsSetSolverPrecisions(params, 1203, 1204), OK);
  assert_int_equal(cusolverDnIRSParamsSetSolverPrecisions(params, 3, 1204), 14);
  assert_int_equal(cusolverDnIRSParamsSetRefinementSolver(params, 1104), OK);
  assert_int_equal(cusolverDnIRSParamsSetRefinementSolver(params, 1200), 15);
  assert_int_equal(cusolverDnIRSParamsSetMaxIters(params, -1), 16);
  assert_int_equal(cusolverDnIRSParamsSetMaxIters(params, 7), OK);
  assert_int_equal(cusolverDnIRSParamsGetMaxIters(params, &count), OK);
  assert_int_equal(count, 7);
  assert_int_equal(cusolverDnIRSInfosGetResidualHistory(infos, &history), INVALID_VALUE);
  assert_int_equal(cusolverDnIRSInfosRequestResidual(infos), OK);
  assert_int_equal(
      cusolverDnIRSXgesv(handle, params, infos, n, 2, a, n, b, n, x, n, NULL, 0, &iterations, info),
      OK);
  const dense found = load(F64, x, n, 2, n), image = multiply(full, OP_N, found, OP_N);
  check_near("expert A X", F64, image, right, n, norm(full) * norm(found));
  assert_int_equal(cusolverDnIRSInfosGetMaxIters(infos, &count), OK);
  assert_int_equal(count, 7);
  assert_int_equal(cusolverDnIRSInfosGetNiters(infos, &count), OK);
  assert_int_equal(count, 0);
  assert_int_equal(cusolverDnIRSInfosGetResidualHistory(infos, &history), OK);
  for (int j = 0; j < 2; ++j) { /* a column for each side, of a row for each iteration */
    long double sum = 0;
    for (int k = 0; k < n; ++k) sum += powl(cabsl(*at(image, k, j) - *at(right, k, j)), 2);
    check_small("history", F64, fabsl(((double*)history)[8 * (j + 1)] - sqrtl(sum)), n,
                norm(full) * norm(found));
  }
  memset(a, 0, sizeof(double) * (size_t)(n * n));
  assert_int_equal(
      cusolverDnIRSXgesv(handle, params, infos, n, 2, a, n, b, n, x, n, NULL, 0, &iterations, info),
      OK);
  assert_true(*info > 0);
  size_t bytes = 0;
  assert_int_equal(cusolverDnIRSXgesv_bufferSize(handle, params, n, 2, &bytes), OK);
  assert_true(bytes > 0);
  assert_int_equal(cusolverDnIRSParamsDestroy(params), OK);
  assert_int_equal(cusolverDnIRSParamsDestroy(params), 12);
  assert_int_equal(cusolverDnIRSInfosDestroy(infos), OK);
  assert_int_equal(cusolverDnIRSInfosDestroy(infos), 25);
}

static char last_function[64];
static int last_level;
static void note(int level, const char* function, const char* message) {
  (void)message;
  last_level = level;
  snprintf(last_function, sizeof last_function, "%s", function);
}

static void calls_are_logged(void** state) {
  (void)state;
  int version = 0;
  assert_int_equal(cusolverDnLoggerSetCallback(note), OK);
  assert_int_equal(cusolverDnLoggerSetLevel(9), INVALID_VALUE);
  assert_int_equal(cusolverDnLoggerSetLevel(5), OK);
  assert_int_equal(cusolverGetVersion(&version), OK);
  assert_string_equal(last_function, "cusolverGetVersion");
  assert_int_equal(last_level, 5);
  assert_int_equal(cusolverDnLoggerSetLevel(1), OK);
  assert_int_equal(cusolverGetVersion(NULL), INVALID_VALUE);
  assert_int_equal(last_level, 1);
  last_function[0] = 0;
  assert_int_equal(cusolverGetVersion(&version), OK);
  assert_string_equal(last_function, "");
  assert_int_equal(cusolverDnLoggerSetMask(0), OK);
}

static void settings_are_kept(void** state) {
  (void)state;
  int value = 0, version = 0;
  assert_int_equal(cusolverDnSetDeterministicMode(handle, 3), INVALID_VALUE);
  assert_int_equal(cusolverDnSetDeterministicMode(handle, 2), OK);
  assert_int_equal(cusolverDnGetDeterministicMode(handle, &value), OK);
  assert_int_equal(value, 2);
  assert_int_equal(cusolverGetVersion(&version), OK);
  assert_int_equal(cusolverGetProperty(0, &value), OK);
  assert_int_equal(version / 1000, value);
  assert_int_equal(cusolverGetProperty(3, &value), INVALID_VALUE);
  void* params = NULL;
  assert_int_equal(cusolverDnCreateParams(&params), OK);
  assert_int_equal(cusolverDnSetAdvOptions(params, 0, 1), OK);
  assert_int_equal(cusolverDnSetAdvOptions(params, 7, 1), INVALID_VALUE);
  assert_int_equal(cusolverDnSetAdvOptions(params, 0, 3), INVALID_VALUE);
  assert_int_equal(cusolverDnDestroyParams(params), OK);
  assert_int_equal(cusolverDnDestroyParams(params), NOT_INITIALIZED);
  cudaStream_t stream = NULL, found = NULL;
  assert_int_equal(cudaStreamCreate(&stream), 0);
  assert_int_equal(cusolverDnSetStream(handle, stream), OK);
  assert_int_equal(cusolverDnGetStream(handle, &found), OK);
  assert_ptr_equal(stream, found);
  assert_int_equal(cusolverDnSetStream(handle, NULL), OK);
  void* second = new_handle();
  assert_int_equal(cusolverDnDestroy(second), OK);
  assert_int_equal(cusolverDnDestroy(second), NOT_INITIALIZED);
  assert_int_equal(cusolverDnDestroy((void*)64), NOT_INITIALIZED);
}

static int set_up(void** state) {
  (void)state;
  handle = new_handle();
  info = managed(sizeof(int));
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(systems_are_solved),
      cmocka_unit_test(expert_settings),
      cmocka_unit_test(calls_are_logged),
      cmocka_unit_test(settings_are_kept),
  };
  return cmocka_run_group_tests(tests, set_up, NULL);
}
