/* The graph API of cuDNN: a product of matrices with a bias and an activation behind it, from
   descriptors to the execution of a plan. */
#include "cudnn_graph.h"

#include "../parted_graph.h"

enum { M = 5, N = 7, K = 11, BATCHES = 3 };

static void* describe(int64_t id, int type, const int64_t* dims, const int64_t* strides,
                      int is_virtual) {
  return describe_tensor(id, type, 3, dims, strides, is_virtual);
}

static const int64_t kA[] = {BATCHES, M, K}, kB[] = {1, K, N}, kC[] = {BATCHES, M, N};
static const int64_t kBias[] = {1, 1, N}, kSums[] = {BATCHES, M, 1};

/* relu(a b + bias), and its sums over the last dimension. b is stored by columns. */
static void operations_run_one_after_the_other(void** state) {
  (void)state;
  void* handle = NULL;
  assert_int_equal(cudnnCreate(&handle), 0);
  const int a_dims[] = {BATCHES, M, K}, b_dims[] = {1, N, K}, c_dims[] = {BATCHES, M, N};
  const int bias_dims[] = {1, 1, N}, sum_dims[] = {BATCHES, M, 1};
  tensor a = make_tensor(F16, 3, a_dims, 0), b = make_tensor(F16, 3, b_dims, 0);
  tensor bias = make_tensor(F32, 3, bias_dims, 0), c = make_tensor(F32, 3, c_dims, 0);
  tensor sums = make_tensor(F32, 3, sum_dims, 0);
  void* const da = describe(1, F16, kA, (const int64_t[]){M * K, K, 1}, 0);
  void* const db = describe(2, F16, kB, (const int64_t[]){N * K, 1, K}, 0);
  void* const dbias = describe(3, F32, kBias, (const int64_t[]){N, N, 1}, 0);
  const int64_t strides[] = {M * N, N, 1};
  void *const product = describe(4, F32, kC, strides, 1), *const sum =
                                                              describe(5, F32, kC, strides, 1);
  void* const dc = describe(6, F32, kC, strides, 0);
  void* const dsums = describe(7, F32, kSums, (const int64_t[]){M, 1, 1}, 0);
  void *const settings = create(MATMUL), *const matmul = create(OPERATION_MATMUL);
  const int precision = F32, add = 0;
  set(settings, 1500, DATA_TYPE, 1, &precision);
  set_descriptor(matmul, 1520, da);
  set_descriptor(matmul, 1521, db);
  set_descriptor(matmul, 1522, product);
  set_descriptor(matmul, 1523, finished(settings));
  void *const reduction = create(REDUCTION), *const reduce = create(OPERATION_REDUCTION);
  set(reduction, 1600, REDUCTION_OPERATOR, 1, &add);
  set(reduction, 1601, DATA_TYPE, 1, &precision);
  set_descriptor(reduce, 1610, dc);
  set_descriptor(reduce, 1611, dsums);
  set_descriptor(reduce, 1612, finished(reduction));
  /* in another order than they run in */
  void* operations[] = {finished(reduce), pointwise_of(100, sum, NULL, dc),
                        pointwise_of(0, product, dbias, sum), finished(matmul)};
  void* const plan = plan_for(handle, 4, operations);
  const int64_t ids[] = {1, 2, 3, 6, 7};
  void* pointers[] = {a.data, b.data, bias.data, c.data, sums.data};
  assert_int_equal(cudnnBackendExecute(handle, plan, pack_of(5, ids, pointers)), 0);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  double expected[BATCHES * M * N], totals[BATCHES * M] = {0};
  for (int i = 0; i < BATCHES * M * N; ++i) {
    double total = get_nth(&bias, (size_t)(i % N));
    for (int k = 0; k < K; ++k) {
      total += get_nth(&a, (size_t)(i / N * K + k)) * get_nth(&b, (size_t)(i % N * K + k));
    }
    expected[i] = fmax(total, 0);
    totals[i / N] += expected[i];
  }
  expect_values(&c, expected, 1);
  expect_values(&sums, totals, 1);
  destroy_all();
  tensor* const all[] = {&a, &b, &bias, &c, &sums};
  for (int i = 0; i < 5; ++i) free_tensor(all[i]);
  assert_int_equal(cudnnDestroy(handle), 0);
}

static tensor g_x, g_b, g_y;
static double g_expected[2][BATCHES * M * N];

static void expect_sums(int of) {
  for (int i = 0; i < BATCHES * M * N; ++i) {
    g_expected[of][i] = fmax(get_nth(&g_x, (size_t)i) + get_nth(&g_b, (size_t)i), 0);
  }
}
static void change_x(void) {
  for (int i = 0; i < BATCHES * M * N; ++i) {
    set_nth(&g_x, (size_t)i, 3 - get_nth(&g_x, (size_t)i));
  }
  expect_sums(1);
}
static void check_y(int of) { expect_values(&g_y, g_expected[of], 1); }

/* relu(x + b), captured once: each executable graph has memory of its own for the sums. */
static void graphs_of_one_captured_plan_run_at_the_same_time(void** state) {
  (void)state;
  void* handle = NULL;
  assert_int_equal(cudnnCreate(&handle), 0);
  const int dims[] = {BATCHES, M, N};
  const int64_t strides[] = {M * N, N, 1}, ids[] = {1, 2, 3};
  g_x = make_tensor(F32, 3, dims, 0);
  g_b = make_tensor(F32, 3, dims, 0);
  g_y = make_tensor(F32, 3, dims, 0);
  expect_sums(0);
  void *const dx = describe(1, F32, kC, strides, 0), *const db = describe(2, F32, kC, strides, 0);
  void *const sum = describe(4, F32, kC, strides, 1), *const dy = describe(3, F32, kC, strides, 0);
  void* operations[] = {pointwise_of(0, dx, db, sum), pointwise_of(100, sum, NULL, dy)};
  void* const plan = plan_for(handle, 2, operations);
  void* pointers[] = {g_x.data, g_b.data, g_y.data};
  cudaStream_t stream;
  cudaGraph_t graph = NULL;
  assert_int_equal(cudaStreamCreate(&stream), 0);
  assert_int_equal(cudnnSetStream(handle, stream), 0);
  assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), 0);
  assert_int_equal(cudnnBackendExecute(handle, plan, pack_of(3, ids, pointers)), 0);
  assert_int_equal(cudaStreamEndCapture(stream, &graph), 0);
  destroy_all(); /* which graphs survive */
  launch_parted(graph, change_x, check_y);
  assert_int_equal(cudaStreamDestroy(stream), 0);
  tensor* const all[] = {&g_x, &g_b, &g_y};
  for (int i = 0; i < 3; ++i) free_tensor(all[i]);
  assert_int_equal(cudnnDestroy(handle), 0);
}

static void wrong_graphs_are_refused(void** state) {
  (void)state;
  void* handle = NULL;
  int64_t found = 0;
  assert_int_equal(cudnnCreate(&handle), 0);
  void* const unset = create(TENSOR);
  assert_int_equal(cudnnBackendFinalize(unset), BAD_PARAM);
  assert_int_equal(cudnnBackendGetAttribute(unset, 902, INT64, 8, &found, NULL), NOT_FINAL);
  assert_int_equal(cudnnBackendSetAttribute(unset, 100, INT64, 1, &found), BAD_PARAM);
  assert_int_equal(cudnnBackendSetAttribute(unset, 902, INT64, -1, &found), BAD_PARAM);
  assert_int_equal(cudnnBackendSetAttribute(unset, 902, INT64, 1, (void*)(intptr_t)16), BAD_PARAM);
  const int64_t strides[] = {M * N, N, 1};
  void *const x = describe(1, F32, kC, strides, 0), *const y = describe(2, F32, kC, strides, 0);
  void* const circle[] = {pointwise_of(100, x, NULL, y), pointwise_of(100, y, NULL, x)};
  void *const graph = create(GRAPH), *const engine = create(ENGINE);
  const int64_t index = 0;
  set(graph, 801, DESCRIPTOR, 2, circle);
  set_descriptor(engine, 1300, finished(graph));
  set(engine, 1301, INT64, 1, &index);
  assert_int_equal(cudnnBackendFinalize(engine), BAD_PARAM);
  assert_int_equal(cudnnBackendExecute(handle, graph, engine), BAD_PARAM);
  assert_int_equal(cudnnBackendDestroyDescriptor((void*)(intptr_t)0x1230), BAD_PARAM);
  destroy_all();
  assert_int_equal(cudnnDestroy(handle), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(operations_run_one_after_the_other),
      cmocka_unit_test(graphs_of_one_captured_plan_run_at_the_same_time),
      cmocka_unit_test(wrong_graphs_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
