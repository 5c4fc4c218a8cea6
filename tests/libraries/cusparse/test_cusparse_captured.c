/* Calls of cuSPARSE captured into graphs: launched twice, with other numbers each time, they give
 * what direct calls give. */
#include "sparse.h"

int cusparseSpMV(void*, int, const void*, const void*, const void*, const void*, void*, int, int,
                 void*);
int cusparseSpMM(void*, int, int, const void*, const void*, const void*, const void*, void*, int,
                 int, void*);
int cusparseSDDMM(void*, int, int, const void*, const void*, const void*, const void*, void*, int,
                  int, void*);
int cusparseSpSV_createDescr(void**);
int cusparseSpSV_destroyDescr(void*);
int cusparseSpSV_analysis(void*, int, const void*, const void*, const void*, void*, int, int, void*,
                          void*);
int cusparseSpSV_solve(void*, int, const void*, const void*, const void*, void*, int, int, void*);
int cusparseSpSM_createDescr(void**);
int cusparseSpSM_destroyDescr(void*);
int cusparseSpSM_analysis(void*, int, int, const void*, const void*, const void*, void*, int, int,
                          void*, void*);
int cusparseSpSM_solve(void*, int, int, const void*, const void*, const void*, void*, int, int,
                       void*);
int cusparseCreateSpVec(void**, int64_t, int64_t, void*, void*, int, int, int);
int cusparseDestroySpVec(const void*);
int cusparseAxpby(void*, const void*, const void*, const void*, void*);
int cusparseGather(void*, const void*, void*);
int cusparseScatter(void*, const void*, void*);
int cusparseSparseToDense(void*, const void*, void*, int, void*);
int cusparseCreateMatDescr(void**);
int cusparseDestroyMatDescr(void*);
int cusparseCsr2cscEx2(void*, int, int, int, const void*, const int*, const int*, void*, int*, int*,
                       int, int, int, int, void*);
int cusparseSgtsv2StridedBatch(void*, int, const float*, const float*, const float*, float*, int,
                               int, void*);
int cusparseSbsrmv(void*, int, int, int, int, int, const float*, void*, const float*, const int*,
                   const int*, int, const float*, const float*, float*);

#define OK(call) assert_int_equal((call), 0)
enum { N = 24, COLUMNS = 3, NNZ = 3 * N - 3, ALL = N * N };

static void* handle;
static cudaStream_t stream;
/* A lower triangular matrix of three diagonals, vectors, and dense matrices. */
static int *offsets, *indices, *places, *csc_offsets, *csc_indices;
static float *values, *x, *y, *b, *c, *entries, *csc_values, *dense, *bands;
static void *matrix, *pattern, *x_vector, *y_vector, *b_matrix, *c_matrix, *square_matrix;
static void *sparse, *solver, *solvers, *description;
static const float kOne = 1, kZero = 0, kTwo = 2;

static void* zeros(size_t bytes) {
  void* const memory = managed(bytes);
  memset(memory, 0, bytes);
  return memory;
}
static void draw(float* to, int count) {
  for (int i = 0; i < count; ++i) to[i] = (float)(below(64) - 32) / 16;
}
/* All inputs; the diagonal is far from 0. */
static void draw_all(void) {
  draw(values, NNZ);
  for (int i = 0; i < N; ++i) values[offsets[i + 1] - 1] += values[offsets[i + 1] - 1] < 0 ? -3 : 3;
  draw(x, N);
  draw(b, N * COLUMNS);
  draw(bands, 3 * N);
  for (int i = N; i < 2 * N; ++i) bands[i] += 8;
}

static void call_spmv(void) {
  OK(cusparseSpMV(handle, 0, &kTwo, matrix, x_vector, &kZero, y_vector, R_32F, 0, NULL));
}
static void call_spmv_transposed(void) {
  OK(cusparseSpMV(handle, 1, &kTwo, matrix, x_vector, &kZero, y_vector, R_32F, 0, NULL));
}
static void call_spmm(void) {
  OK(cusparseSpMM(handle, 0, 0, &kOne, matrix, b_matrix, &kZero, c_matrix, R_32F, 0, NULL));
}
static void call_sddmm(void) {
  OK(cusparseSDDMM(handle, 0, 1, &kOne, b_matrix, b_matrix, &kZero, pattern, R_32F, 0, NULL));
}
static void call_spsv(void) {
  OK(cusparseSpSV_solve(handle, 0, &kOne, matrix, x_vector, y_vector, R_32F, 0, solver));
}
static void call_spsm(void) {
  OK(cusparseSpSM_solve(handle, 0, 0, &kOne, matrix, b_matrix, c_matrix, R_32F, 0, solvers));
}
static void call_vectors(void) {
  OK(cusparseGather(handle, x_vector, sparse));
  OK(cusparseScatter(handle, sparse, y_vector));
  OK(cusparseAxpby(handle, &kTwo, sparse, &kOne, y_vector));
}
static void call_to_dense(void) {
  OK(cusparseSparseToDense(handle, matrix, square_matrix, 0, NULL));
}
static void call_to_csc(void) {
  OK(cusparseCsr2cscEx2(handle, N, N, NNZ, values, offsets, indices, csc_values, csc_offsets,
                        csc_indices, R_32F, 1, 0, 1, NULL));
}
static void call_bsrmv(void) {
  OK(cusparseSbsrmv(handle, 0, 0, N, N, NNZ, &kOne, description, values, offsets, indices, 1, x,
                    &kZero, y));
}
static void call_bands(void) {
  /* the solver overwrites x, so it gets a copy each time */
  OK(cusparseSpMV(handle, 0, &kOne, matrix, x_vector, &kZero, y_vector, R_32F, 0, NULL));
  OK(cusparseSgtsv2StridedBatch(handle, N, bands, bands + N, bands + 2 * N, y, 1, N, NULL));
}

typedef struct {
  void* memory;
  size_t bytes;
} result;
static int collect(result* out) {
  const result all[] = {{y, N * 4},
                        {c, N * COLUMNS * 4},
                        {entries, NNZ * 4},
                        {dense, ALL * 4},
                        {csc_values, NNZ * 4},
                        {csc_offsets, (N + 1) * 4},
                        {csc_indices, NNZ * 4}};
  memcpy(out, all, sizeof all);
  return (int)(sizeof all / sizeof *all);
}
static void clear_results(void) {
  result all[8];
  for (int i = collect(all); i-- > 0;) memset(all[i].memory, 0, all[i].bytes);
}

static void launch_twice(void (*calls)(void)) {
  cudaGraph_t graph = NULL;
  cudaGraphExec_t exec = NULL;
  result all[8];
  char* kept[8];
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  calls();
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphDestroy(graph));
  for (int round = 0; round < 2; ++round) {
    int changed = 0;
    draw_all();
    clear_results();
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    const int count = collect(all);
    for (int i = 0; i < count; ++i) {
      kept[i] = malloc(all[i].bytes);
      memcpy(kept[i], all[i].memory, all[i].bytes);
    }
    clear_results();
    calls();
    OK(cudaStreamSynchronize(stream));
    for (int i = 0; i < count; ++i) {
      assert_memory_equal(kept[i], all[i].memory, all[i].bytes);
      for (size_t k = 0; k < all[i].bytes; ++k) changed |= kept[i][k] != 0;
      free(kept[i]);
    }
    assert_true(changed);
  }
  OK(cudaGraphExecDestroy(exec));
}

static void captured_calls_give_what_direct_ones_give(void** state) {
  (void)state;
  void (*const all[])(void) = {
      call_spmv,    call_spmv_transposed, call_spmm,   call_sddmm, call_spsv, call_spsm,
      call_vectors, call_to_dense,        call_to_csc, call_bsrmv, call_bands};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) launch_twice(all[i]);
}

static void make_arrays(void) {
  offsets = zeros((N + 1) * 4), csc_offsets = zeros((N + 1) * 4);
  indices = zeros(NNZ * 4), csc_indices = zeros(NNZ * 4), places = zeros(N * 4);
  values = zeros(NNZ * 4), csc_values = zeros(NNZ * 4), entries = zeros(NNZ * 4);
  x = zeros(N * 4), y = zeros(N * 4), bands = zeros(3 * N * 4);
  b = zeros(N * COLUMNS * 4), c = zeros(N * COLUMNS * 4), dense = zeros(ALL * 4);
  int at = 0;
  for (int i = 0; i < N; ++i) {
    offsets[i] = at;
    for (int j = i < 2 ? 0 : i - 2; j <= i; ++j) indices[at++] = j;
    places[i] = i;
  }
  offsets[N] = at;
  assert_int_equal(at, NNZ);
}
static int start(void** state) {
  (void)state;
  make_arrays();
  OK(cusparseCreate(&handle));
  OK(cudaStreamCreate(&stream));
  OK(cusparseSetStream(handle, stream));
  OK(cusparseCreateCsr(&matrix, N, N, NNZ, offsets, indices, values, INDEX_32, INDEX_32, 0, R_32F));
  OK(cusparseCreateCsr(&pattern, N, N, NNZ, offsets, indices, entries, INDEX_32, INDEX_32, 0,
                       R_32F));
  OK(cusparseCreateDnVec(&x_vector, N, x, R_32F));
  OK(cusparseCreateDnVec(&y_vector, N, y, R_32F));
  OK(cusparseCreateDnMat(&b_matrix, N, COLUMNS, N, b, R_32F, BY_COLUMN));
  OK(cusparseCreateDnMat(&c_matrix, N, COLUMNS, N, c, R_32F, BY_COLUMN));
  OK(cusparseCreateDnMat(&square_matrix, N, N, N, dense, R_32F, BY_ROW));
  OK(cusparseCreateSpVec(&sparse, N, N, places, entries, INDEX_32, 0, R_32F));
  OK(cusparseCreateMatDescr(&description));
  draw_all();
  OK(cusparseSpSV_createDescr(&solver));
  OK(cusparseSpSV_analysis(handle, 0, &kOne, matrix, x_vector, y_vector, R_32F, 0, solver, NULL));
  OK(cusparseSpSM_createDescr(&solvers));
  OK(cusparseSpSM_analysis(handle, 0, 0, &kOne, matrix, b_matrix, c_matrix, R_32F, 0, solvers,
                           NULL));
  return 0;
}
static int end_all(void** state) {
  (void)state;
  OK(cusparseSpSV_destroyDescr(solver));
  OK(cusparseSpSM_destroyDescr(solvers));
  OK(cusparseDestroyMatDescr(description));
  OK(cusparseDestroySpVec(sparse));
  OK(cusparseDestroySpMat(matrix));
  OK(cusparseDestroySpMat(pattern));
  OK(cusparseDestroyDnVec(x_vector));
  OK(cusparseDestroyDnVec(y_vector));
  void* const matrices[] = {b_matrix, c_matrix, square_matrix};
  for (int i = 0; i < 3; ++i) OK(cusparseDestroyDnMat(matrices[i]));
  OK(cusparseDestroy(handle));
  OK(cudaStreamDestroy(stream));
  void* const memory[] = {offsets, indices, places, csc_offsets, csc_indices, values, x,
                          y,       b,       c,      entries,     csc_values,  dense,  bands};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; ++i) OK(cudaFree(memory[i]));
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(captured_calls_give_what_direct_ones_give),
  };
  return cmocka_run_group_tests(tests, start, end_all);
}
