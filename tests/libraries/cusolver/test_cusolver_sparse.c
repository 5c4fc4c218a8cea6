/* Sparse solvers of cuSOLVER, and cusolverRf, against products in long double. */
/* The functions of the dense part that the shared header names are not used. */
#define KM_SOLVER_TEST_WITHOUT_HANDLES
#include "solver_test.h"

int cusparseCreateMatDescr(void**);
int cusparseSetMatIndexBase(void*, int);
int cusolverSpCreate(void**);
int cusolverSpDestroy(void*);
int cusolverSpSetStream(void*, cudaStream_t);

#define SPARSE(name, suffix, ...)                                                       \
  int cusolverSpS##suffix(__VA_ARGS__);                                                 \
  int cusolverSpD##suffix(__VA_ARGS__);                                                 \
  int cusolverSpC##suffix(__VA_ARGS__);                                                 \
  int cusolverSpZ##suffix(__VA_ARGS__);                                                 \
  static int (*const name[4])(__VA_ARGS__) = {cusolverSpS##suffix, cusolverSpD##suffix, \
                                              cusolverSpC##suffix, cusolverSpZ##suffix};

/* A tolerance is of the type's real numbers: such functions are declared for both. */
#define TOLERANT(suffix, before, after)                     \
  int cusolverSpS##suffix(KEEP before, float, KEEP after);  \
  int cusolverSpD##suffix(KEEP before, double, KEEP after); \
  int cusolverSpC##suffix(KEEP before, float, KEEP after);  \
  int cusolverSpZ##suffix(KEEP before, double, KEEP after);
#define KEEP(...) __VA_ARGS__
#define MATRIX void*, int, int, const void*, const void*, const int*, const int*
#define SOLVE(suffix) TOLERANT(suffix, (MATRIX, const void*), (int, void*, int*))
SOLVE(csrlsvqr)
SOLVE(csrlsvqrHost)
SOLVE(csrlsvchol)
SOLVE(csrlsvcholHost)
SOLVE(csrlsvluHost)
TOLERANT(csrlsqvqrHost,
         (void*, int, int, int, const void*, const void*, const int*, const int*, const void*),
         (int*, void*, int*, void*))
typedef int solve_f32(MATRIX, const void*, float, int, void*, int*);
typedef int solve_f64(MATRIX, const void*, double, int, void*, int*);
#define FUNCTIONS(suffix)                                                                    \
  {                                                                                          \
    {cusolverSpS##suffix, cusolverSpC##suffix}, { cusolverSpD##suffix, cusolverSpZ##suffix } \
  }
static const struct {
  solve_f32* f32[2];
  solve_f64* f64[2];
} solvers[] = {FUNCTIONS(csrlsvqr), FUNCTIONS(csrlsvqrHost), FUNCTIONS(csrlsvchol),
               FUNCTIONS(csrlsvcholHost), FUNCTIONS(csrlsvluHost)};

SPARSE(qr_buffer, csrqrBufferInfoBatched, void*, int, int, int, const void*, const void*,
       const int*, const int*, int, void*, size_t*, size_t*)
SPARSE(qr_batch, csrqrsvBatched, void*, int, int, int, const void*, const void*, const int*,
       const int*, const void*, void*, int, void*, void*)
SPARSE(chol_factor, csrcholFactor, MATRIX, void*, void*)
SPARSE(chol_solve, csrcholSolve, void*, int, const void*, void*, void*, void*)
SPARSE(chol_diag, csrcholDiag, void*, void*, void*)
SPARSE(zfd, csrzfdHost, MATRIX, int*, int*)
int cusolverSpCreateCsrqrInfo(void**);
int cusolverSpDestroyCsrqrInfo(void*);
int cusolverSpXcsrqrAnalysisBatched(void*, int, int, int, const void*, const int*, const int*,
                                    void*);
int cusolverSpCreateCsrcholInfo(void**);
int cusolverSpXcsrcholAnalysis(void*, int, int, const void*, const int*, const int*, void*);
int cusolverSpDcsrcholZeroPivot(void*, void*, double, int*);
int cusolverSpCreateCsrluInfoHost(void**);
int cusolverSpXcsrluAnalysisHost(void*, int, int, const void*, const int*, const int*, void*);
int cusolverSpDcsrluFactorHost(MATRIX, void*, double, void*);
int cusolverSpDcsrluSolveHost(void*, int, const void*, void*, void*, void*);
int cusolverSpDcsrluZeroPivotHost(void*, void*, double, int*);
int cusolverSpXcsrluNnzHost(void*, int*, int*, void*);
int cusolverSpDcsrluExtractHost(void*, int*, int*, const void*, double*, int*, int*, const void*,
                                double*, int*, int*, void*, void*);
int cusolverSpCreateCsrqrInfoHost(void**);
int cusolverSpXcsrqrAnalysisHost(void*, int, int, int, const void*, const int*, const int*, void*);
int cusolverSpDcsrqrSetupHost(void*, int, int, int, const void*, const double*, const int*,
                              const int*, double, void*);
int cusolverSpDcsrqrFactorHost(void*, int, int, int, double*, double*, void*, void*);
int cusolverSpDcsrqrSolveHost(void*, int, int, double*, double*, void*, void*);
int cusolverSpDcsrqrZeroPivotHost(void*, void*, double, int*);
int cusolverSpDcsreigvsi(MATRIX, double, const double*, int, double, double*, double*);
int cusolverSpDcsreigsHost(MATRIX, double complex, double complex, int*);
int cusolverSpXcsrsymrcmHost(void*, int, int, const void*, const int*, const int*, int*);
int cusolverSpXcsrsymmdqHost(void*, int, int, const void*, const int*, const int*, int*);
int cusolverSpXcsrsymamdHost(void*, int, int, const void*, const int*, const int*, int*);
int cusolverSpXcsrmetisndHost(void*, int, int, const void*, const int*, const int*, const int64_t*,
                              int*);
int cusolverSpXcsrpermHost(void*, int, int, int, const void*, int*, int*, const int*, const int*,
                           int*, void*);
int cusolverSpXcsrissymHost(void*, int, int, const void*, const int*, const int*, const int*, int*);

int cusolverRfCreate(void**);
int cusolverRfDestroy(void*);
int cusolverRfSetupHost(int, int, int*, int*, double*, int, int*, int*, double*, int, int*, int*,
                        double*, int*, int*, void*);
int cusolverRfBatchSetupHost(int, int, int, int*, int*, double**, int, int*, int*, double*, int,
                             int*, int*, double*, int*, int*, void*);
int cusolverRfAnalyze(void*);
int cusolverRfBatchAnalyze(void*);
int cusolverRfRefactor(void*);
int cusolverRfBatchRefactor(void*);
int cusolverRfResetValues(int, int, int*, int*, double*, int*, int*, void*);
int cusolverRfSolve(void*, int*, int*, int, double*, int, double*, int);
int cusolverRfBatchSolve(void*, int*, int*, int, double*, int, double**, int);
int cusolverRfBatchZeroPivot(void*, int*);
int cusolverRfExtractSplitFactorsHost(void*, int*, int**, int**, double**, int*, int**, int**,
                                      double**);
int cusolverRfAccessBundledFactorsDevice(void*, int*, int**, int**, double**);

static void *handle, *descriptions[2];

/* A sparse matrix by rows in managed memory, and the same in long double. */
typedef struct {
  int m, n, count, base;
  int *starts, *indices;
  void* values;
  dense full;
} sparse;

static sparse compress(int type, dense full) {
  sparse a = {full.m, full.n, 0, random_below(2), NULL, NULL, NULL, full};
  a.starts = managed(sizeof(int) * (size_t)(full.m + 1));
  a.indices = managed(sizeof(int) * (size_t)(full.m * full.n + 1));
  a.values = managed(sizes[type] * (size_t)(full.m * full.n + 1));
  for (int i = 0; i < full.m; ++i) {
    a.starts[i] = a.count + a.base;
    for (int j = 0; j < full.n; ++j) {
      if (*at(full, i, j) == 0) continue;
      set(type, a.values, (size_t)a.count, *at(full, i, j));
      *at(full, i, j) = get(type, a.values, (size_t)a.count);
      a.indices[a.count++] = j + a.base;
    }
  }
  a.starts[full.m] = a.count + a.base;
  return a;
}
static number any(int type) {
  return random_number() + (is_complex(type) ? random_number() * I : 0);
}
static sparse random_sparse(int type, int m, int n, int is_positive) {
  dense full = zeros(m, n);
  for (int i = 0; i < m; ++i) {
    for (int k = random_below(4); k > 0; --k) *at(full, i, random_below(n)) = any(type);
  }
  if (is_positive) full = reflect(full, LOWER, 1);
  for (int i = 0; i < n; ++i) *at(full, i, i) = is_positive ? 8 + n : 4 + random_below(3);
  return compress(type, full);
}
static void* description_of(const sparse* a) { return descriptions[a->base]; }

static void solve(int which, int type, const sparse* a, double tolerance, int reorder,
                  const void* b, void* x, int* wrong) {
  const void* d = description_of(a);
  if (real_type(type) == F32) {
    assert_int_equal(
        solvers[which].f32[is_complex(type)](handle, a->n, a->count, d, a->values, a->starts,
                                             a->indices, b, (float)tolerance, reorder, x, wrong),
        OK);
  } else {
    assert_int_equal(
        solvers[which].f64[is_complex(type)](handle, a->n, a->count, d, a->values, a->starts,
                                             a->indices, b, tolerance, reorder, x, wrong),
        OK);
  }
}

static void systems_are_solved(void** state) {
  (void)state;
  for (int i = 0; i < case_count(160); ++i) {
    const int type = i % TYPES, which = i / TYPES % 5, n = 1 + random_below(40);
    const sparse a = random_sparse(type, n, n, which == 2 || which == 3);
    void *b = random_matrix(type, n, 1, n), *x = random_matrix(type, n, 1, n);
    const dense right = load(type, b, n, 1, n);
    int wrong = -7;
    solve(which, type, &a, 1e-10, random_below(4), b, x, &wrong);
    assert_int_equal(wrong, -1);
    const dense found = load(type, x, n, 1, n);
    check_near("sparse A x", type, multiply(a.full, OP_N, found, OP_N), right, n,
               norm(a.full) * norm(found));
  }
}

static void singular_systems_are_said(void** state) {
  (void)state;
  for (int which = 0; which < 5; ++which) {
    const int n = 10;
    sparse a = random_sparse(F64, n, n, 1);
    for (int i = 0; i < n; ++i) *at(a.full, i, 4) = *at(a.full, 4, i) = 0;
    a = compress(F64, a.full);
    double *b = random_matrix(F64, n, 1, n), *x = random_matrix(F64, n, 1, n);
    const dense before = load(F64, x, n, 1, n);
    int wrong = -7;
    solve(which, F64, &a, 1e-12, 0, b, x, &wrong);
    assert_true(wrong >= 0 && wrong < n);
    assert_true(distance(before, load(F64, x, n, 1, n)) == 0);
    if (which >= 2) assert_int_equal(wrong, 4);
  }
}

static void least_squares(void** state) {
  (void)state;
  for (int i = 0; i < case_count(24); ++i) {
    const int n = 1 + random_below(12), m = n + random_below(12);
    const sparse a = random_sparse(F64, m, n, 0);
    double *b = random_matrix(F64, m, 1, m), *x = random_matrix(F64, n, 1, n), least = -1;
    int *p = managed(sizeof(int) * (size_t)n), rank = -1;
    assert_int_equal(cusolverSpDcsrlsqvqrHost(handle, m, n, a.count, description_of(&a), a.values,
                                              a.starts, a.indices, b, 1e-12, &rank, x, p, &least),
                     OK);
    assert_int_equal(rank, n);
    const dense found = load(F64, x, n, 1, n);
    dense rest = multiply(a.full, OP_N, found, OP_N);
    for (int k = 0; k < m; ++k) rest.v[k] -= b[k];
    check_small("least squares", F64, norm(multiply(a.full, OP_C, rest, OP_N)), m,
                norm(a.full) * (norm(rest) + norm(a.full)));
    check_small("least norm", F64, fabsl(least - norm(rest)), m, norm(a.full));
    int seen = 0;
    for (int k = 0; k < n; ++k) seen += p[k];
    assert_int_equal(seen, n * (n - 1) / 2);
  }
}

static void batches_by_qr(void** state) {
  (void)state;
  for (int i = 0; i < case_count(16); ++i) {
    const int type = i % TYPES, n = 1 + random_below(15), count = 1 + random_below(4);
    const sparse a = random_sparse(type, n, n, 0);
    void* values = managed(sizes[type] * (size_t)(a.count * count));
    void *b = random_matrix(type, n, count, n), *x = random_matrix(type, n, count, n), *info = NULL;
    for (int k = 0; k < count; ++k) {
      for (int e = 0; e < a.count; ++e)
        set(type, values, (size_t)(k * a.count + e), get(type, a.values, (size_t)e) * (k + 1));
    }
    size_t internal = 0, work = 0;
    assert_int_equal(cusolverSpCreateCsrqrInfo(&info), OK);
    assert_int_equal(qr_batch[type](handle, n, n, a.count, description_of(&a), values, a.starts,
                                    a.indices, b, x, count, info, NULL),
                     INVALID_VALUE);
    assert_int_equal(cusolverSpXcsrqrAnalysisBatched(handle, n, n, a.count, description_of(&a),
                                                     a.starts, a.indices, info),
                     OK);
    assert_int_equal(qr_buffer[type](handle, n, n, a.count, description_of(&a), values, a.starts,
                                     a.indices, count, info, &internal, &work),
                     OK);
    assert_int_equal(qr_batch[type](handle, n, n, a.count, description_of(&a), values, a.starts,
                                    a.indices, b, x, count, info, NULL),
                     OK);
    finish();
    const dense found = load(type, x, n, count, n), right = load(type, b, n, count, n);
    dense back = multiply(a.full, OP_N, found, OP_N);
    for (int k = 0; k < count * n; ++k) back.v[k] *= k / n + 1;
    check_near("batch by QR", type, back, right, n, norm(a.full) * norm(found) * count);
    assert_int_equal(cusolverSpDestroyCsrqrInfo(info), OK);
    assert_int_equal(cusolverSpDestroyCsrqrInfo(info), INVALID_VALUE);
  }
}

static void low_level_cholesky(void** state) {
  (void)state;
  for (int i = 0; i < case_count(16); ++i) {
    const int type = i % TYPES, n = 1 + random_below(25);
    const sparse a = random_sparse(type, n, n, 1);
    void *b = random_matrix(type, n, 1, n), *x = random_matrix(type, n, 1, n),
         *diagonal = managed(8 * 32), *info = NULL;
    assert_int_equal(cusolverSpCreateCsrcholInfo(&info), OK);
    assert_int_equal(cusolverSpXcsrcholAnalysis(handle, n, a.count, description_of(&a), a.starts,
                                                a.indices, info),
                     OK);
    assert_int_equal(chol_solve[type](handle, n, b, x, info, NULL), INVALID_VALUE);
    assert_int_equal(chol_factor[type](handle, n, a.count, description_of(&a), a.values, a.starts,
                                       a.indices, info, NULL),
                     OK);
    assert_int_equal(chol_solve[type](handle, n, b, x, info, NULL), OK);
    assert_int_equal(chol_diag[type](handle, info, diagonal), OK);
    finish();
    const dense found = load(type, x, n, 1, n), right = load(type, b, n, 1, n);
    check_near("low-level Cholesky", type, multiply(a.full, OP_N, found, OP_N), right, n,
               norm(a.full) * norm(found));
    /* The determinant is the square of the diagonal's product: compared by logarithms with that of
     * a dense elimination. */
    long double from_factor = 0, expected = 0;
    dense rest = zeros(n, n);
    memcpy(rest.v, a.full.v, sizeof(number) * (size_t)(n * n));
    for (int k = 0; k < n; ++k) {
      from_factor += 2 * logl(creall(get(real_type(type), diagonal, (size_t)k)));
      expected += logl(cabsl(*at(rest, k, k)));
      for (int r = k + 1; r < n; ++r) {
        const number factor = *at(rest, r, k) / *at(rest, k, k);
        for (int c = k; c < n; ++c) *at(rest, r, c) -= factor * *at(rest, k, c);
      }
    }
    check_small("determinant", type, fabsl(from_factor - expected), n, expected);
  }
  void* info = NULL;
  int position = -7;
  dense full = identity(3);
  *at(full, 1, 1) = -1;
  const sparse a = compress(F64, full);
  assert_int_equal(cusolverSpCreateCsrcholInfo(&info), OK);
  assert_int_equal(
      cusolverSpXcsrcholAnalysis(handle, 3, 3, description_of(&a), a.starts, a.indices, info), OK);
  assert_int_equal(
      chol_factor[F64](handle, 3, 3, description_of(&a), a.values, a.starts, a.indices, info, NULL),
      OK);
  assert_int_equal(cusolverSpDcsrcholZeroPivot(handle, info, 0, &position), OK);
  assert_true(position >= 0 && position < 3);
}

static void low_level_qr(void** state) {
  (void)state;
  const int n = 14;
  const sparse a = random_sparse(F64, n, n, 0);
  double *b = random_matrix(F64, n, 1, n), *x = random_matrix(F64, n, 1, n);
  void* info = NULL;
  int position = -7;
  assert_int_equal(cusolverSpCreateCsrqrInfoHost(&info), OK);
  assert_int_equal(cusolverSpXcsrqrAnalysisHost(handle, n, n, a.count, description_of(&a), a.starts,
                                                a.indices, info),
                   OK);
  assert_int_equal(cusolverSpDcsrqrSolveHost(handle, n, n, b, x, info, NULL), INVALID_VALUE);
  assert_int_equal(cusolverSpDcsrqrSetupHost(handle, n, n, a.count, description_of(&a), a.values,
                                             a.starts, a.indices, 0.5, info),
                   OK);
  assert_int_equal(cusolverSpDcsrqrFactorHost(handle, n, n, a.count, NULL, NULL, info, NULL), OK);
  assert_int_equal(cusolverSpDcsrqrZeroPivotHost(handle, info, 1e-12, &position), OK);
  assert_int_equal(position, -1);
  assert_int_equal(cusolverSpDcsrqrSolveHost(handle, n, n, b, x, info, NULL), OK);
  const dense found = load(F64, x, n, 1, n);
  dense back = multiply(a.full, OP_N, found, OP_N);
  for (int k = 0; k < n; ++k) back.v[k] -= 0.5L * found.v[k];
  check_near("shifted QR", F64, back, load(F64, b, n, 1, n), n, norm(a.full) * norm(found));
}

static dense expand(int n, const int* starts, const int* indices, const double* values, int base) {
  dense full = zeros(n, n);
  for (int i = 0; i < n; ++i) {
    for (int k = starts[i] - base; k < starts[i + 1] - base; ++k)
      *at(full, i, indices[k] - base) += values[k];
  }
  return full;
}
static dense permuted(dense a, const int* p, const int* q) {
  dense b = zeros(a.m, a.n);
  for (int i = 0; i < a.m; ++i) {
    for (int j = 0; j < a.n; ++j) *at(b, i, j) = *at(a, p[i], q[j]);
  }
  return b;
}

/* LU factors of a matrix with indices from 0. */
typedef struct {
  int n, l_count, u_count, *p, *q, *l_starts, *u_starts, *l_indices, *u_indices;
  double *l_values, *u_values;
} factors;

static factors factorize(const sparse* a, const double* b, double* x) {
  const int n = a->n;
  void *info = NULL, *zero_based = descriptions[0];
  int position = -7;
  assert_int_equal(cusolverSpCreateCsrluInfoHost(&info), OK);
  assert_int_equal(
      cusolverSpXcsrluAnalysisHost(handle, n, a->count, zero_based, a->starts, a->indices, info),
      OK);
  assert_int_equal(cusolverSpDcsrluFactorHost(handle, n, a->count, zero_based, a->values, a->starts,
                                              a->indices, info, 1.0, NULL),
                   OK);
  assert_int_equal(cusolverSpDcsrluZeroPivotHost(handle, info, 1e-12, &position), OK);
  assert_int_equal(position, -1);
  assert_int_equal(cusolverSpDcsrluSolveHost(handle, n, b, x, info, NULL), OK);
  const dense found = load(F64, x, n, 1, n);
  check_near("sparse LU", F64, multiply(a->full, OP_N, found, OP_N), load(F64, b, n, 1, n), n,
             norm(a->full) * norm(found));
  factors f = {.n = n};
  assert_int_equal(cusolverSpXcsrluNnzHost(handle, &f.l_count, &f.u_count, info), OK);
  f.p = managed(4 * 32), f.q = managed(4 * 32), f.l_starts = managed(4 * 32),
  f.u_starts = managed(4 * 32);
  f.l_indices = managed(4 * (size_t)f.l_count), f.u_indices = managed(4 * (size_t)f.u_count);
  f.l_values = managed(8 * (size_t)f.l_count), f.u_values = managed(8 * (size_t)f.u_count);
  assert_int_equal(
      cusolverSpDcsrluExtractHost(handle, f.p, f.q, zero_based, f.l_values, f.l_starts, f.l_indices,
                                  zero_based, f.u_values, f.u_starts, f.u_indices, info, NULL),
      OK);
  const dense l = expand(n, f.l_starts, f.l_indices, f.l_values, 0),
              u = expand(n, f.u_starts, f.u_indices, f.u_values, 0);
  check_near("P A Q^T", F64, multiply(l, OP_N, u, OP_N), permuted(a->full, f.p, f.q), n,
             norm(a->full) * n);
  return f;
}

/* The factors that cusolverRf has, of a matrix. */
static void check_extracted(void* rf, const factors* f, dense changed) {
  int *ls, *li, *us, *ui, *ms, *mi, l_count = 0, u_count = 0, count = 0;
  double *lv, *uv, *mv, first = 0;
  assert_int_equal(
      cusolverRfExtractSplitFactorsHost(rf, &l_count, &ls, &li, &lv, &u_count, &us, &ui, &uv), OK);
  const dense again =
      multiply(expand(f->n, ls, li, lv, 0), OP_N, expand(f->n, us, ui, uv, 0), OP_N);
  check_near("split factors", F64, again, permuted(changed, f->p, f->q), f->n,
             norm(changed) * f->n);
  free(ls), free(li), free(lv), free(us), free(ui), free(uv);
  assert_int_equal(cusolverRfAccessBundledFactorsDevice(rf, &count, &ms, &mi, &mv), OK);
  assert_int_equal(count, l_count + u_count - f->n);
  assert_int_equal(cudaMemcpy(&first, mv, sizeof first, cudaMemcpyDeviceToHost), 0);
  assert_true(isfinite(first));
}

/* LU factors, and refactorizations of the same pattern with cusolverRf. */
static void refactorizations(void** state) {
  (void)state;
  for (int i = 0; i < case_count(24); ++i) {
    const int n = 1 + random_below(25);
    sparse a = random_sparse(F64, n, n, 0);
    void* rf = NULL;
    for (int k = 0; k <= n && a.base; ++k) --a.starts[k];
    for (int k = 0; k < a.count && a.base; ++k) --a.indices[k];
    a.base = 0;
    double *b = random_matrix(F64, n, 2, n), *x = random_matrix(F64, n, 2, n);
    factors f = factorize(&a, b, x);
    assert_int_equal(cusolverRfCreate(&rf), OK);
    assert_int_equal(cusolverRfRefactor(rf), INVALID_VALUE);
    assert_int_equal(cusolverRfSetupHost(n, a.count, a.starts, a.indices, a.values, f.l_count,
                                         f.l_starts, f.l_indices, f.l_values, f.u_count, f.u_starts,
                                         f.u_indices, f.u_values, f.p, f.q, rf),
                     OK);
    assert_int_equal(cusolverRfAnalyze(rf), OK);
    double* values = managed(8 * (size_t)a.count);
    for (int k = 0; k < a.count; ++k)
      values[k] = ((double*)a.values)[k] * (1 + 0.1 * random_number());
    assert_int_equal(cusolverRfResetValues(n, a.count, a.starts, a.indices, values, f.p, f.q, rf),
                     OK);
    assert_int_equal(cusolverRfRefactor(rf), OK);
    memcpy(x, b, 16 * (size_t)n);
    double* space = managed(16 * (size_t)n);
    assert_int_equal(cusolverRfSolve(rf, f.p, f.q, 2, space, n, x, n), OK);
    const dense changed = expand(n, a.starts, a.indices, values, 0),
                solution = load(F64, x, n, 2, n);
    check_near("refactorized", F64, multiply(changed, OP_N, solution, OP_N), load(F64, b, n, 2, n),
               n, norm(changed) * norm(solution) * n);
    check_extracted(rf, &f, changed);
    f.q[0] = n; /* no permutation */
    assert_int_equal(cusolverRfSolve(rf, f.p, f.q, 2, space, n, x, n), INVALID_VALUE);
    assert_int_equal(cusolverRfDestroy(rf), OK);
    assert_int_equal(cusolverRfDestroy(rf), NOT_INITIALIZED);
  }
}

static void batches_of_refactorizations(void** state) {
  (void)state;
  enum { N = 5, BATCH = 3 };
  dense full = identity(N);
  for (int k = 0; k + 1 < N; ++k) *at(full, k, k + 1) = 0.5L, *at(full, k + 1, k) = 0.25L;
  const sparse a = compress(F64, full);
  int starts[N + 1], indices[3 * N], l_starts[N + 1], l_indices[2 * N], u_starts[N + 1],
      u_indices[2 * N], p[N];
  int l = 0, u = 0;
  for (int i = 0; i <= N; ++i) starts[i] = a.starts[i] - a.base;
  for (int k = 0; k < a.count; ++k) indices[k] = a.indices[k] - a.base;
  for (int i = 0; i < N; ++i) {
    p[i] = i;
    l_starts[i] = l, u_starts[i] = u;
    if (i > 0) l_indices[l++] = i - 1;
    l_indices[l++] = i;
    u_indices[u++] = i;
    if (i + 1 < N) u_indices[u++] = i + 1;
  }
  l_starts[N] = l, u_starts[N] = u;
  double values[BATCH][3 * N], *lists[BATCH], *right[BATCH],
      **xs = managed(sizeof(double*) * BATCH);
  double factors[2 * N] = {0};
  for (int b = 0; b < BATCH; ++b) {
    for (int k = 0; k < a.count; ++k) values[b][k] = (b + 1) * ((double*)a.values)[k];
    lists[b] = values[b];
    right[b] = xs[b] = random_matrix(F64, N, 1, N);
  }
  dense given[BATCH];
  for (int b = 0; b < BATCH; ++b) given[b] = load(F64, right[b], N, 1, N);
  void* rf = NULL;
  int zero[BATCH], *dp = managed(sizeof p), *dq = managed(sizeof p);
  memcpy(dp, p, sizeof p);
  memcpy(dq, p, sizeof p);
  assert_int_equal(cusolverRfCreate(&rf), OK);
  assert_int_equal(
      cusolverRfBatchSetupHost(BATCH, N, a.count, starts, indices, lists, l, l_starts, l_indices,
                               factors, u, u_starts, u_indices, factors, p, p, rf),
      OK);
  assert_int_equal(cusolverRfAnalyze(rf), INVALID_VALUE);
  assert_int_equal(cusolverRfBatchAnalyze(rf), OK);
  assert_int_equal(cusolverRfBatchRefactor(rf), OK);
  assert_int_equal(cusolverRfBatchZeroPivot(rf, zero), OK);
  assert_int_equal(zero[2], -1);
  assert_int_equal(cusolverRfBatchSolve(rf, dp, dq, 1, managed(8 * N), N, xs, N), OK);
  for (int b = 0; b < BATCH; ++b) {
    dense back = multiply(full, OP_N, load(F64, right[b], N, 1, N), OP_N);
    for (int k = 0; k < N; ++k) back.v[k] *= b + 1;
    check_near("batch of refactorizations", F64, back, given[b], N, 4);
  }
  values[1][0] = values[1][1] = values[1][2] = 0; /* a row of zeros */
  assert_int_equal(
      cusolverRfBatchSetupHost(BATCH, N, a.count, starts, indices, lists, l, l_starts, l_indices,
                               factors, u, u_starts, u_indices, factors, p, p, rf),
      OK);
  assert_int_equal(cusolverRfBatchAnalyze(rf), OK);
  assert_int_equal(cusolverRfBatchRefactor(rf), OK);
  assert_int_equal(cusolverRfBatchZeroPivot(rf, zero), 10);
  assert_int_equal(zero[0], -1);
  assert_int_equal(zero[1], 0);
}

static void eigenvalues(void** state) {
  (void)state;
  const int n = 12;
  dense full = zeros(n, n);
  for (int k = 0; k < n; ++k) *at(full, k, k) = k + 1;
  for (int k = 0; k + 1 < n; ++k) *at(full, k, k + 1) = *at(full, k + 1, k) = 0.1L;
  const sparse a = compress(F64, full);
  double *start = random_matrix(F64, n, 1, n), *x = random_matrix(F64, n, 1, n), *mu = managed(8);
  assert_int_equal(cusolverSpDcsreigvsi(handle, n, a.count, description_of(&a), a.values, a.starts,
                                        a.indices, 5.2, start, 60, 1e-12, mu, x),
                   OK);
  const dense v = load(F64, x, n, 1, n);
  dense rest = multiply(full, OP_N, v, OP_N);
  for (int k = 0; k < n; ++k) rest.v[k] -= *mu * v.v[k];
  assert_true(norm(rest) < 1e-9L && fabsl(norm(v) - 1) < 1e-9L && fabs(*mu - 5) < 0.1);
  int count = -1;
  assert_int_equal(
      cusolverSpDcsreigsHost(handle, n, a.count, description_of(&a), a.values, a.starts, a.indices,
                             2.5 - 1.0 * I, 7.5 + 1.0 * I, &count),
      OK);
  assert_int_equal(count, 5);
}

static void orderings(void** state) {
  (void)state;
  for (int i = 0; i < case_count(20); ++i) {
    const int n = 1 + random_below(60);
    sparse a = random_sparse(F64, n, n, 0);
    const int64_t options[40] = {0};
    int *p = managed(sizeof(int) * 64), matched = 0, is_symmetric = -1;
    for (int kind = 0; kind < 5; ++kind) {
      const void* d = description_of(&a);
      if (kind == 0)
        assert_int_equal(cusolverSpXcsrsymrcmHost(handle, n, a.count, d, a.starts, a.indices, p),
                         OK);
      if (kind == 1)
        assert_int_equal(cusolverSpXcsrsymmdqHost(handle, n, a.count, d, a.starts, a.indices, p),
                         OK);
      if (kind == 2)
        assert_int_equal(cusolverSpXcsrsymamdHost(handle, n, a.count, d, a.starts, a.indices, p),
                         OK);
      if (kind == 3)
        assert_int_equal(
            cusolverSpXcsrmetisndHost(handle, n, a.count, d, a.starts, a.indices, options, p), OK);
      if (kind == 4) {
        assert_int_equal(
            zfd[F64](handle, n, a.count, d, a.values, a.starts, a.indices, p, &matched), OK);
        assert_int_equal(matched, n);
      }
      char seen[64] = {0};
      for (int k = 0; k < n; ++k) {
        assert_true(p[k] >= 0 && p[k] < n && !seen[p[k]]);
        seen[p[k]] = 1;
        if (kind == 4) assert_true(*at(a.full, p[k], k) != 0);
      }
    }
    int expected = 1;
    for (int r = 0; r < n; ++r) {
      for (int c = 0; c < n; ++c) expected &= (*at(a.full, r, c) != 0) == (*at(a.full, c, r) != 0);
    }
    assert_int_equal(cusolverSpXcsrissymHost(handle, n, a.count, description_of(&a), a.starts,
                                             a.starts + 1, a.indices, &is_symmetric),
                     OK);
    assert_int_equal(is_symmetric, expected);
    /* B = A(p, p), with the places of the values. */
    int* map = managed(sizeof(int) * (size_t)(a.count + 1));
    for (int k = 0; k < a.count; ++k) map[k] = k;
    assert_int_equal(cusolverSpXcsrpermHost(handle, n, n, a.count, description_of(&a), a.starts,
                                            a.indices, p, p, map, NULL),
                     OK);
    double* moved = managed(8 * (size_t)(a.count + 1));
    for (int k = 0; k < a.count; ++k) moved[k] = ((double*)a.values)[map[k]];
    assert_true(distance(expand(n, a.starts, a.indices, moved, a.base), permuted(a.full, p, p)) ==
                0);
  }
}

static void wrong_matrices_are_refused(void** state) {
  (void)state;
  const int n = 6;
  sparse a = random_sparse(F64, n, n, 0);
  double *b = random_matrix(F64, n, 1, n), *x = random_matrix(F64, n, 1, n);
  int wrong = 0;
  solve_f64* const first = solvers[0].f64[0];
  void* const d = description_of(&a);
  assert_int_equal(first(NULL, n, a.count, d, a.values, a.starts, a.indices, b, 0, 0, x, &wrong),
                   NOT_INITIALIZED);
  assert_int_equal(first(handle, -1, a.count, d, a.values, a.starts, a.indices, b, 0, 0, x, &wrong),
                   INVALID_VALUE);
  assert_int_equal(
      first(handle, n, a.count, NULL, a.values, a.starts, a.indices, b, 0, 0, x, &wrong),
      INVALID_VALUE);
  assert_int_equal(first(handle, n, a.count, d, a.values, a.starts, a.indices, b, 0, 4, x, &wrong),
                   INVALID_VALUE);
  assert_int_equal(
      first(handle, n, a.count - 1, d, a.values, a.starts, a.indices, b, 0, 0, x, &wrong),
      INVALID_VALUE);
  assert_int_equal(first(handle, n, a.count, d, a.values, a.starts, a.indices, b, 0, 0, x, NULL),
                   INVALID_VALUE);
  assert_int_equal(first(handle, n, a.count, d, a.values, (int*)16, a.indices, b, 0, 0, x, &wrong),
                   INVALID_VALUE);
  const int kept = a.indices[0];
  a.indices[0] = 1000000;
  assert_int_equal(first(handle, n, a.count, d, a.values, a.starts, a.indices, b, 0, 0, x, &wrong),
                   INVALID_VALUE);
  a.indices[0] = kept;
  a.starts[1] = 1000000;
  assert_int_equal(first(handle, n, a.count, d, a.values, a.starts, a.indices, b, 0, 0, x, &wrong),
                   INVALID_VALUE);
}

static int set_up(void** state) {
  (void)state;
  assert_int_equal(cusolverSpCreate(&handle), OK);
  for (int base = 0; base < 2; ++base) {
    assert_int_equal(cusparseCreateMatDescr(&descriptions[base]), 0);
    assert_int_equal(cusparseSetMatIndexBase(descriptions[base], base), 0);
  }
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(systems_are_solved),
      cmocka_unit_test(singular_systems_are_said),
      cmocka_unit_test(least_squares),
      cmocka_unit_test(batches_by_qr),
      cmocka_unit_test(low_level_cholesky),
      cmocka_unit_test(low_level_qr),
      cmocka_unit_test(refactorizations),
      cmocka_unit_test(batches_of_refactorizations),
      cmocka_unit_test(eigenvalues),
      cmocka_unit_test(orderings),
      cmocka_unit_test(wrong_matrices_are_refused),
  };
  return cmocka_run_group_tests(tests, set_up, NULL);
}
