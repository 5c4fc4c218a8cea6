/* Convolutions of cuDNN against plain loops in double: types, strides, groups, dilation, captured
   and not. */
#include "cudnn_support.h"

int cudnnCreateFilterDescriptor(void**);
int cudnnSetFilterNdDescriptor(void*, int, int, int, const int*);
int cudnnDestroyFilterDescriptor(void*);
int cudnnCreateConvolutionDescriptor(void**);
int cudnnSetConvolutionNdDescriptor(void*, int, const int*, const int*, const int*, int, int);
int cudnnSetConvolutionGroupCount(void*, int);
int cudnnDestroyConvolutionDescriptor(void*);
int cudnnGetConvolutionNdForwardOutputDim(void*, void*, void*, int, int*);
int cudnnGetConvolutionForwardWorkspaceSize(void*, void*, void*, void*, void*, int, size_t*);
int cudnnConvolutionForward(void*, const void*, void*, const void*, void*, const void*, void*, int,
                            void*, size_t, const void*, void*, void*);
int cudnnConvolutionBackwardData(void*, const void*, void*, const void*, void*, const void*, void*,
                                 int, void*, size_t, const void*, void*, void*);
int cudnnConvolutionBackwardFilter(void*, const void*, void*, const void*, void*, const void*,
                                   void*, int, void*, size_t, const void*, void*, void*);
int cudnnConvolutionBackwardBias(void*, const void*, void*, const void*, const void*, void*, void*);
int cudnnConvolutionBiasActivationForward(void*, const void*, void*, const void*, void*,
                                          const void*, void*, int, void*, size_t, const void*,
                                          void*, const void*, void*, const void*, void*, void*,
                                          void*);
int cudnnCreateActivationDescriptor(void**);
int cudnnSetActivationDescriptor(void*, int, int, double);
int cudnnDestroyActivationDescriptor(void*);
int cudnnGetConvolutionForwardAlgorithm_v7(void*, void*, void*, void*, void*, int, int*, void*);
void cudnnGetLastErrorString(char*, size_t);

typedef struct {
  int spatial, groups, is_flipped;
  int pads[MOST], steps[MOST], dilations[MOST];
  tensor x, w, y;
  void *filter, *convolution;
} problem;

enum { FORWARD, DATA, FILTER, DIRECTIONS };

static int extent_of(const problem* p, int i) {
  return 1 + (p->x.dims[i + 2] + 2 * p->pads[i] - ((p->w.dims[i + 2] - 1) * p->dilations[i] + 1)) /
                 p->steps[i];
}

/* Random extents for which the filter fits. */
static problem make_problem(int type) {
  problem p = {.spatial = between(1, 3), .groups = between(1, 3), .is_flipped = between(0, 1)};
  int x[MOST] = {between(1, 3), p.groups * between(1, 4)}, w[MOST], y[MOST];
  w[0] = p.groups * between(1, 5);
  w[1] = x[1] / p.groups;
  const int most = p.spatial == 1 ? 40 : p.spatial == 2 ? 11 : 6, layout = between(0, 2);
  p.x.rank = p.w.rank = p.spatial + 2;
  for (int i = 0; i < p.spatial; ++i) {
    w[i + 2] = between(1, 4);
    p.dilations[i] = between(1, 2);
    p.steps[i] = between(1, 3);
    p.pads[i] = between(0, 2);
    const int least = (w[i + 2] - 1) * p.dilations[i] + 1;
    x[i + 2] = between(least, least + most);
    p.x.dims[i + 2] = x[i + 2];
    p.w.dims[i + 2] = w[i + 2];
    y[i + 2] = extent_of(&p, i);
  }
  y[0] = x[0];
  y[1] = w[0];
  const int w_layout = between(0, 1);
  p.x = make_tensor(type, p.spatial + 2, x, layout);
  p.w = make_tensor(type, p.spatial + 2, w, w_layout);
  p.y = make_tensor(type == INT8 ? INT32 : type, p.spatial + 2, y, between(0, 1) ? layout : 2);
  assert_int_equal(cudnnCreateFilterDescriptor(&p.filter), 0);
  assert_int_equal(cudnnSetFilterNdDescriptor(p.filter, type, w_layout, p.spatial + 2, w), 0);
  assert_int_equal(cudnnCreateConvolutionDescriptor(&p.convolution), 0);
  assert_int_equal(
      cudnnSetConvolutionNdDescriptor(p.convolution, p.spatial, p.pads, p.steps, p.dilations,
                                      !p.is_flipped, type == F64 ? F64 : F32),
      0);
  assert_int_equal(cudnnSetConvolutionGroupCount(p.convolution, p.groups), 0);
  return p;
}
static void free_problem(problem* p) {
  free_tensor(&p->x);
  free_tensor(&p->w);
  free_tensor(&p->y);
  assert_int_equal(cudnnDestroyFilterDescriptor(p->filter), 0);
  assert_int_equal(cudnnDestroyConvolutionDescriptor(p->convolution), 0);
}

static size_t index_of(const tensor* t, const int* at) {
  size_t found = 0;
  for (int i = 0; i < t->rank; ++i) found = found * (size_t)t->dims[i] + (size_t)at[i];
  return found;
}
/* Adds the products of all elements that meet to the sums for one direction. */
static void add_all(const problem* p, int direction, double* sums) {
  int out[MOST] = {0}, tap[MOST] = {0}, in[MOST] = {0};
  for (size_t i = 0; i < p->y.count; ++i) {
    position_of(&p->y, i, out);
    const int group = out[1] / (p->w.dims[0] / p->groups);
    for (size_t j = 0; j < p->w.count / (size_t)p->w.dims[0]; ++j) {
      position_of(&p->w, j, tap);
      tap[0] = out[1];
      in[0] = out[0];
      in[1] = group * p->w.dims[1] + tap[1];
      int is_inside = 1;
      for (int d = 2; d < p->spatial + 2; ++d) {
        const int at = p->is_flipped ? p->w.dims[d] - 1 - tap[d] : tap[d];
        in[d] = out[d] * p->steps[d - 2] - p->pads[d - 2] + at * p->dilations[d - 2];
        is_inside = is_inside && in[d] >= 0 && in[d] < p->x.dims[d];
      }
      if (!is_inside) continue;
      if (direction == FORWARD) sums[i] += get(&p->x, in) * get(&p->w, tap);
      if (direction == DATA) sums[index_of(&p->x, in)] += get(&p->y, out) * get(&p->w, tap);
      if (direction == FILTER) sums[index_of(&p->w, tap)] += get(&p->y, out) * get(&p->x, in);
    }
  }
}

static int run(void* handle, problem* p, int direction, const scalars* s) {
  if (direction == FORWARD) {
    return cudnnConvolutionForward(handle, s->alpha, p->x.descriptor, p->x.data, p->filter,
                                   p->w.data, p->convolution, 1, NULL, 0, s->beta, p->y.descriptor,
                                   p->y.data);
  }
  if (direction == DATA) {
    return cudnnConvolutionBackwardData(handle, s->alpha, p->filter, p->w.data, p->y.descriptor,
                                        p->y.data, p->convolution, 1, NULL, 0, s->beta,
                                        p->x.descriptor, p->x.data);
  }
  return cudnnConvolutionBackwardFilter(handle, s->alpha, p->x.descriptor, p->x.data,
                                        p->y.descriptor, p->y.data, p->convolution, 1, NULL, 0,
                                        s->beta, p->filter, p->w.data);
}

static void run_captured(void* handle, problem* p, int direction, const scalars* s) {
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  assert_int_equal(cudaStreamCreate(&stream), 0);
  assert_int_equal(cudnnSetStream(handle, stream), 0);
  assert_int_equal(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), 0);
  assert_int_equal(run(handle, p, direction, s), 0);
  assert_int_equal(cudaStreamEndCapture(stream, &graph), 0);
  assert_int_equal(cudaGraphInstantiate(&exec, graph, 0), 0);
  assert_int_equal(cudaGraphLaunch(exec, stream), 0);
  assert_int_equal(cudaStreamSynchronize(stream), 0);
  assert_int_equal(cudaGraphExecDestroy(exec), 0);
  assert_int_equal(cudaGraphDestroy(graph), 0);
  assert_int_equal(cudnnSetStream(handle, NULL), 0);
  assert_int_equal(cudaStreamDestroy(stream), 0);
}

static void check_case(void* handle, int number) {
  static const int kTypes[] = {F32, F64, F16, BF16, INT8, F32};
  random_state = (uint64_t)number * 77777 + 1;
  const int type = kTypes[number % 6];
  problem p = make_problem(type);
  const int direction = type == INT8 ? FORWARD : between(0, DIRECTIONS - 1);
  tensor* const out = direction == FORWARD ? &p.y : direction == DATA ? &p.x : &p.w;
  scalars s;
  const int is_plain = between(0, 1);
  set_scalars(&s, type, is_plain ? 1 : 0.5, is_plain ? 0 : between(0, 1) ? 1 : -0.25);
  double* const sums = calloc(out->count, sizeof *sums);
  add_all(&p, direction, sums);
  double* const old = values_of(out);
  for (size_t i = 0; i < out->count; ++i) {
    sums[i] = s.d[0] * sums[i] + (s.d[1] != 0 ? s.d[1] * old[i] : 0);
    if (out->type == INT32) sums[i] = nearbyint(sums[i]);
  }
  if (number % 7 == 3) {
    run_captured(handle, &p, direction, &s);
  } else {
    assert_int_equal(run(handle, &p, direction, &s), 0);
  }
  assert_int_equal(cudaDeviceSynchronize(), 0);
  expect_values(out, sums, direction == FILTER ? 30 : 5);
  free(sums);
  free(old);
  free_problem(&p);
}

static void convolutions_are_sums_of_products(void** state) {
  (void)state;
  void* handle = NULL;
  assert_int_equal(cudnnCreate(&handle), 0);
  const int count = case_count(120);
  for (int i = 0; i < count; ++i) check_case(handle, i);
  assert_int_equal(cudnnDestroy(handle), 0);
}

static void bias_and_activation_follow_the_sums(void** state) {
  (void)state;
  void *handle = NULL, *activation = NULL;
  assert_int_equal(cudnnCreate(&handle), 0);
  assert_int_equal(cudnnCreateActivationDescriptor(&activation), 0);
  assert_int_equal(cudnnSetActivationDescriptor(activation, 1, 1, 0), 0);
  for (int i = 0; i < 10; ++i) {
    random_state = (uint64_t)i + 5;
    const int type = i % 2 ? F16 : F32;
    problem p = make_problem(type);
    int bias_dims[MOST] = {1, p.y.dims[1], 1, 1, 1, 1};
    tensor bias = make_tensor(type, p.y.rank, bias_dims, 0), z = p.y;
    z = make_tensor(type, p.y.rank, p.y.dims, 2);
    scalars s;
    set_scalars(&s, F32, 0.5, 2);
    double* const sums = calloc(p.y.count, sizeof *sums);
    add_all(&p, FORWARD, sums);
    for (size_t j = 0; j < p.y.count; ++j) {
      int at[MOST] = {0};
      position_of(&p.y, j, at);
      const int channel[MOST] = {0, at[1]};
      sums[j] = fmax(0, 0.5 * sums[j] + 2 * get(&z, at) + get(&bias, channel));
    }
    assert_int_equal(cudnnConvolutionBiasActivationForward(
                         handle, s.alpha, p.x.descriptor, p.x.data, p.filter, p.w.data,
                         p.convolution, 1, NULL, 0, s.beta, z.descriptor, z.data, bias.descriptor,
                         bias.data, activation, p.y.descriptor, p.y.data),
                     0);
    assert_int_equal(cudaDeviceSynchronize(), 0);
    expect_values(&p.y, sums, 5);
    free(sums);
    free_tensor(&bias);
    free_tensor(&z);
    free_problem(&p);
  }
  assert_int_equal(cudnnDestroyActivationDescriptor(activation), 0);
  assert_int_equal(cudnnDestroy(handle), 0);
}

static void gradient_of_the_bias_is_a_sum(void** state) {
  (void)state;
  void* handle = NULL;
  assert_int_equal(cudnnCreate(&handle), 0);
  const int dims[] = {3, 5, 4, 6}, bias_dims[] = {1, 5, 1, 1};
  tensor dy = make_tensor(F32, 4, dims, 1), db = make_tensor(F32, 4, bias_dims, 0);
  scalars s;
  set_scalars(&s, F32, 1, 0);
  double expected[5] = {0};
  for (size_t i = 0; i < dy.count; ++i) expected[i / 24 % 5] += get_nth(&dy, i);
  assert_int_equal(cudnnConvolutionBackwardBias(handle, s.alpha, dy.descriptor, dy.data, s.beta,
                                                db.descriptor, db.data),
                   0);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  expect_values(&db, expected, 1);
  free_tensor(&dy);
  free_tensor(&db);
  assert_int_equal(cudnnDestroy(handle), 0);
}

static void wrong_arguments_are_told(void** state) {
  (void)state;
  void* handle = NULL;
  char message[256] = "";
  assert_int_equal(cudnnCreate(&handle), 0);
  problem p = make_problem(F32);
  scalars s;
  set_scalars(&s, F32, 1, 0);
  int extents[MOST], found = 0;
  char performance[64];
  assert_int_equal(
      cudnnGetConvolutionNdForwardOutputDim(p.convolution, p.x.descriptor, p.filter, MOST, extents),
      0);
  assert_memory_equal(extents, p.y.dims, (size_t)p.y.rank * sizeof(int));
  assert_int_equal(
      cudnnGetConvolutionForwardAlgorithm_v7(handle, p.x.descriptor, p.filter, p.convolution,
                                             p.y.descriptor, 1, &found, performance),
      0);
  assert_int_equal(found, 1);
  problem wrong = p;
  wrong.y.data = NULL;
  assert_int_equal(run(handle, &wrong, FORWARD, &s), BAD_PARAM);
  cudnnGetLastErrorString(message, sizeof message);
  assert_non_null(strstr(message, "null"));
  wrong.y.data = p.y.data + 4; /* ends behind its allocation */
  assert_int_equal(run(handle, &wrong, FORWARD, &s), BAD_PARAM);
  wrong.y = p.y;
  wrong.convolution = (void*)(intptr_t)0x4444;
  assert_int_equal(run(handle, &wrong, FORWARD, &s), BAD_PARAM);
  assert_int_equal(run((void*)(intptr_t)0x1234, &p, FORWARD, &s), NOT_INITIALIZED);
  free_problem(&p);
  assert_int_equal(cudnnDestroy(handle), 0);
  assert_int_equal(cudnnDestroy(handle), NOT_INITIALIZED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(convolutions_are_sums_of_products),
      cmocka_unit_test(bias_and_activation_follow_the_sums),
      cmocka_unit_test(gradient_of_the_bias_is_a_sum),
      cmocka_unit_test(wrong_arguments_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
