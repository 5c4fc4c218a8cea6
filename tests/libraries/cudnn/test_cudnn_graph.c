/* The graph API of cuDNN: a product of matrices with a bias and an activation behind it, from
   descriptors to the execution of a plan. */
#include "cudnn_support.h"

int cudnnBackendCreateDescriptor(int, void**);
int cudnnBackendSetAttribute(void*, int, int, int64_t, const void*);
int cudnnBackendGetAttribute(void*, int, int, int64_t, int64_t*, void*);
int cudnnBackendFinalize(void*);
int cudnnBackendExecute(void*, void*, void*);
int cudnnBackendDestroyDescriptor(void*);

enum { HANDLE = 0, DATA_TYPE = 1, BOOLEAN = 2, INT64 = 3, FLOAT = 4, VOID_PTR = 6, HEUR_MODE = 8 };
enum { POINTWISE_MODE = 14, DESCRIPTOR = 15, REDUCTION_OPERATOR = 18, NOT_FINAL = 2004 };
enum { POINTWISE = 0, ENGINE = 2, ENGINECFG, ENGINEHEUR, PLAN, OPERATION_POINTWISE = 13 };
enum { GRAPH = 15, PACK, TENSOR, MATMUL, OPERATION_MATMUL, REDUCTION = 21, OPERATION_REDUCTION };
enum { M = 5, N = 7, K = 11, BATCHES = 3 };

static void* created[64];
static int created_count;

static void* create(int type) {
  void* descriptor = NULL;
  assert_int_equal(cudnnBackendCreateDescriptor(type, &descriptor), 0);
  created[created_count++] = descriptor;
  return descriptor;
}
static void set(void* descriptor, int name, int type, int64_t count, const void* values) {
  assert_int_equal(cudnnBackendSetAttribute(descriptor, name, type, count, values), 0);
}
static void set_descriptor(void* descriptor, int name, void* value) {
  set(descriptor, name, DESCRIPTOR, 1, &value);
}
static void* finished(void* descriptor) {
  assert_int_equal(cudnnBackendFinalize(descriptor), 0);
  return descriptor;
}
static void* describe(int64_t id, int type, const int64_t* dims, const int64_t* strides,
                      int is_virtual) {
  void* const tensor_descriptor = create(TENSOR);
  const char flag = (char)is_virtual;
  const int64_t alignment = 4;
  set(tensor_descriptor, 906, INT64, 1, &id);
  set(tensor_descriptor, 901, DATA_TYPE, 1, &type);
  set(tensor_descriptor, 902, INT64, 3, dims);
  set(tensor_descriptor, 903, INT64, 3, strides);
  set(tensor_descriptor, 900, INT64, 1, &alignment);
  set(tensor_descriptor, 907, BOOLEAN, 1, &flag);
  return finished(tensor_descriptor);
}
static void* pointwise_of(int mode, void* x, void* b, void* y) {
  void *const settings = create(POINTWISE), *const operation = create(OPERATION_POINTWISE);
  const int precision = F32;
  set(settings, 0, POINTWISE_MODE, 1, &mode);
  set(settings, 1, DATA_TYPE, 1, &precision);
  set_descriptor(operation, 750, finished(settings));
  set_descriptor(operation, 751, x);
  if (b != NULL) set_descriptor(operation, 752, b);
  set_descriptor(operation, 753, y);
  return finished(operation);
}
/* The plan that the heuristic proposes for operations. */
static void* plan_for(void* handle, int64_t count, void** operations) {
  void *const graph = create(GRAPH), *const heuristic = create(ENGINEHEUR);
  void *const engine_config = create(ENGINECFG), *const plan = create(PLAN);
  const int mode = 3;
  int64_t found = 0, workspace = -1;
  set(graph, 800, HANDLE, 1, &handle);
  set(graph, 801, DESCRIPTOR, count, operations);
  set_descriptor(heuristic, 201, finished(graph));
  set(heuristic, 200, HEUR_MODE, 1, &mode);
  finished(heuristic);
  void* configs[1] = {engine_config};
  assert_int_equal(cudnnBackendGetAttribute(heuristic, 202, DESCRIPTOR, 1, &found, configs), 0);
  assert_int_equal(found, 1);
  set(plan, 400, HANDLE, 1, &handle);
  set_descriptor(plan, 401, engine_config);
  finished(plan);
  assert_int_equal(cudnnBackendGetAttribute(plan, 402, INT64, 1, &found, &workspace), 0);
  assert_true(workspace >= 0);
  return plan;
}
static void* pack_of(int64_t count, const int64_t* ids, void** pointers) {
  void* const pack = create(PACK);
  set(pack, 1000, INT64, count, ids);
  set(pack, 1001, VOID_PTR, count, pointers);
  return finished(pack);
}
static void destroy_all(void) {
  while (created_count > 0) {
    assert_int_equal(cudnnBackendDestroyDescriptor(created[--created_count]), 0);
  }
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
      cmocka_unit_test(wrong_graphs_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
