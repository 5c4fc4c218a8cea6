/* Gradients of attention with a bias that a subgraph adds to the scores, against differences. */
#include "cudnn_graph.h"

enum { B = 2, HEADS = 3, QUERIES = 3, KEYS = 4, D = 5, SDPA_BWD = 43, ADD = 0, MUL = 1 };
static const double kScale = 0.4;

static const int kQ[] = {B, HEADS, QUERIES, D}, kK[] = {B, HEADS, KEYS, D};
static const int kRows[] = {B, HEADS, QUERIES, 1};
static tensor q, k, v, o, d_o, stats, bias, dq, dk, dv, dbias;

static double bias_at(int b, int h, int i, int j) {
  const int at[] = {bias.dims[0] == 1 ? 0 : b, bias.dims[1] == 1 ? 0 : h, bias.dims[2] == 1 ? 0 : i,
                    j};
  return get(&bias, at);
}
/* The probabilities of a row; returns the logarithm of the sum of the scores' exponentials. */
static double plain_row(int b, int h, int i, double* p) {
  double most = -INFINITY, sum = 0;
  for (int j = 0; j < KEYS; ++j) {
    p[j] = bias_at(b, h, i, j);
    for (int d = 0; d < D; ++d) {
      p[j] += kScale * get(&q, (const int[]){b, h, i, d}) * get(&k, (const int[]){b, h, j, d});
    }
    most = fmax(most, p[j]);
  }
  for (int j = 0; j < KEYS; ++j) sum += exp(p[j] - most);
  for (int j = 0; j < KEYS; ++j) p[j] = exp(p[j] - most) / sum;
  return most + log(sum);
}
/* The sum of o d_o; fills o and the statistics. */
static double attend(int fills) {
  double total = 0, p[KEYS];
  for (int row = 0; row < B * HEADS * QUERIES; ++row) {
    const int i = row % QUERIES, h = row / QUERIES % HEADS, b = row / QUERIES / HEADS;
    const double stat = plain_row(b, h, i, p);
    if (fills) set_nth(&stats, (size_t)row, stat);
    for (int d = 0; d < D; ++d) {
      double sum = 0;
      for (int j = 0; j < KEYS; ++j) sum += p[j] * get(&v, (const int[]){b, h, j, d});
      if (fills) set_nth(&o, (size_t)(row * D + d), sum);
      total += sum * get(&d_o, (const int[]){b, h, i, d});
    }
  }
  return total;
}
static void expect_gradient(tensor* of, const tensor* gradient, const char* name) {
  const double step = 1.0 / 512;
  for (size_t i = 0; i < of->count; ++i) {
    const double old = get_nth(of, i);
    set_nth(of, i, old + step);
    const double above = attend(0);
    set_nth(of, i, old - step);
    const double below = attend(0);
    set_nth(of, i, old);
    const double expected = (above - below) / (2 * step), value = get_nth(gradient, i);
    if (fabs(value - expected) > 1e-4 * (1 + fabs(expected))) {
      fail_msg("%s %zu is %g, not %g", name, i, value, expected);
    }
  }
}

static void* describe(int64_t id, const tensor* t, int is_virtual) {
  int64_t dims[4], strides[4];
  for (int i = 0; i < 4; ++i) {
    dims[i] = t->dims[i];
    strides[i] = t->strides[i];
  }
  return describe_tensor(id, F32, 4, dims, strides, is_virtual);
}

/* Attention whose subgraph applies a pointwise mode to the scores and the bias. */
static void* attention_of(void* handle, int mode) {
  const int64_t dims[] = {B, HEADS, QUERIES, KEYS};
  const int64_t strides[] = {HEADS * QUERIES * KEYS, QUERIES * KEYS, KEYS, 1};
  const int64_t one[] = {1, 1, 1, 1}, input = 20, output = 21;
  void* const scores = describe_tensor(input, F32, 4, dims, strides, 1);
  void* const changed = describe_tensor(output, F32, 4, dims, strides, 1);
  void* const inner = create(GRAPH);
  void* const add = pointwise_of(mode, scores, describe(10, &bias, 0), changed);
  set(inner, 800, HANDLE, 1, &handle);
  set(inner, 801, DESCRIPTOR, 1, &add);
  void* const operation = create(SDPA_BWD);
  const struct {
    int name;
    int64_t id;
    const tensor* of;
  } all[] = {{2851, 1, &q},   {2852, 2, &k},  {2853, 3, &v},  {2854, 4, &o},  {2855, 5, &stats},
             {2862, 6, &d_o}, {2859, 7, &dq}, {2860, 8, &dk}, {2861, 9, &dv}, {2875, 11, &dbias}};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    set_descriptor(operation, all[i].name, describe(all[i].id, all[i].of, 0));
  }
  set_descriptor(operation, 2856, describe_tensor(12, F32, 4, one, one, 0));
  set_descriptor(operation, 2867, finished(inner));
  set(operation, 2868, INT64, 1, &input);
  set(operation, 2869, INT64, 1, &output);
  return finished(operation);
}

static void make_tensors(const int* bias_dims) {
  const struct {
    tensor* t;
    const int* dims;
  } all[] = {{&q, kQ},        {&k, kK},           {&v, kK},           {&o, kQ},
             {&d_o, kQ},      {&dq, kQ},          {&dk, kK},          {&dv, kK},
             {&stats, kRows}, {&bias, bias_dims}, {&dbias, bias_dims}};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
    *all[i].t = make_tensor(F32, 4, all[i].dims, 0);
}
static void free_tensors(void) {
  tensor* const all[] = {&q, &k, &v, &o, &d_o, &dq, &dk, &dv, &stats, &bias, &dbias};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) free_tensor(all[i]);
}

static void gradients_of_an_attention_with_a_bias(void** state) {
  (void)state;
  static const int kBiases[][4] = {
      {1, HEADS, QUERIES, KEYS}, {1, 1, QUERIES, KEYS}, {B, HEADS, QUERIES, KEYS}, {B, 1, 1, KEYS}};
  void* handle = NULL;
  float* scale = NULL;
  assert_int_equal(cudnnCreate(&handle), 0);
  assert_int_equal(cudaMallocManaged((void**)&scale, 4, cudaMemAttachGlobal), 0);
  *scale = (float)kScale;
  for (size_t i = 0; i < sizeof kBiases / sizeof *kBiases; ++i) {
    random_state = i + 3;
    make_tensors(kBiases[i]);
    attend(1);
    void* operation = attention_of(handle, ADD);
    void* const plan = plan_for(handle, 1, &operation);
    const int64_t ids[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    void* pointers[] = {q.data,  k.data,  v.data,  o.data,    stats.data, d_o.data,
                        dq.data, dk.data, dv.data, bias.data, dbias.data, scale};
    assert_int_equal(cudnnBackendExecute(handle, plan, pack_of(12, ids, pointers)), 0);
    assert_int_equal(cudaDeviceSynchronize(), 0);
    expect_gradient(&bias, &dbias, "dbias");
    expect_gradient(&q, &dq, "dq");
    expect_gradient(&k, &dk, "dk");
    expect_gradient(&v, &dv, "dv");
    destroy_all();
    free_tensors();
  }
  assert_int_equal(cudaFree(scale), 0);
  assert_int_equal(cudnnDestroy(handle), 0);
}

/* A subgraph that multiplies has a gradient of its own, which would be left out. */
static void subgraphs_that_do_not_add_are_refused(void** state) {
  (void)state;
  void* handle = NULL;
  assert_int_equal(cudnnCreate(&handle), 0);
  make_tensors(kQ);
  free_tensor(&bias);
  const int dims[] = {1, HEADS, QUERIES, KEYS};
  bias = make_tensor(F32, 4, dims, 0);
  free_tensor(&dbias);
  dbias = make_tensor(F32, 4, dims, 0);
  void *operation = attention_of(handle, MUL), *const graph = create(GRAPH);
  void* const engine = create(ENGINE);
  const int64_t index = 0;
  set(graph, 801, DESCRIPTOR, 1, &operation);
  set_descriptor(engine, 1300, finished(graph));
  set(engine, 1301, INT64, 1, &index);
  assert_int_equal(cudnnBackendFinalize(engine), NOT_SUPPORTED);
  destroy_all();
  free_tensors();
  assert_int_equal(cudnnDestroy(handle), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gradients_of_an_attention_with_a_bias),
      cmocka_unit_test(subgraphs_that_do_not_add_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
