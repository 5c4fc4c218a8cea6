/* Layers of cuDNN captured into graphs, which are launched twice with different inputs: plain loops
   in long double for those that no other test has, and direct calls for the others. */
#include "cudnn_support.h"

int cudnnActivationBackward(void*, void*, const void*, void*, const void*, void*, const void*,
                            void*, const void*, const void*, void*, void*);
int cudnnActivationForward(void*, void*, const void*, void*, const void*, const void*, void*,
                           void*);
int cudnnAddTensor(void*, const void*, void*, const void*, const void*, void*, void*);
int cudnnBatchNormalizationBackwardEx(void*, int, int, const void*, const void*, const void*,
                                      const void*, void*, const void*, void*, const void*, void*,
                                      const void*, void*, void*, void*, void*, void*, const void*,
                                      const void*, void*, void*, double, const void*, const void*,
                                      void*, void*, size_t, void*, size_t);
int cudnnBatchNormalizationForwardInference(void*, int, const void*, const void*, void*,
                                            const void*, void*, void*, void*, const void*,
                                            const void*, const void*, const void*, double);
int cudnnBatchNormalizationForwardTrainingEx(void*, int, int, const void*, const void*, void*,
                                             const void*, void*, const void*, void*, void*, void*,
                                             const void*, const void*, double, void*, void*, double,
                                             void*, void*, void*, void*, size_t, void*, size_t);
int cudnnCreateActivationDescriptor(void**);
int cudnnCreateLRNDescriptor(void**);
int cudnnCreateOpTensorDescriptor(void**);
int cudnnCreatePoolingDescriptor(void**);
int cudnnCreateReduceTensorDescriptor(void**);
int cudnnCreateSpatialTransformerDescriptor(void**);
int cudnnDeriveBNTensorDescriptor(void*, void*, int);
int cudnnDestroyActivationDescriptor(void*);
int cudnnDestroyLRNDescriptor(void*);
int cudnnDestroyOpTensorDescriptor(void*);
int cudnnDestroyPoolingDescriptor(void*);
int cudnnDestroyReduceTensorDescriptor(void*);
int cudnnDestroySpatialTransformerDescriptor(void*);
int cudnnGetBatchNormalizationTrainingExReserveSpaceSize(void*, int, int, void*, void*, size_t*);
int cudnnLRNCrossChannelBackward(void*, void*, int, const void*, void*, const void*, void*,
                                 const void*, void*, const void*, const void*, void*, void*);
int cudnnLRNCrossChannelForward(void*, void*, int, const void*, void*, const void*, const void*,
                                void*, void*);
int cudnnNormalizationBackward(void*, int, int, int, const void*, const void*, const void*,
                               const void*, void*, const void*, void*, const void*, void*,
                               const void*, void*, void*, void*, void*, void*, const void*,
                               const void*, void*, void*, double, void*, const void*, const void*,
                               void*, void*, size_t, void*, size_t, int);
int cudnnNormalizationForwardInference(void*, int, int, int, const void*, const void*, void*,
                                       const void*, void*, const void*, const void*, void*,
                                       const void*, const void*, void*, const void*, void*, void*,
                                       void*, double, int);
int cudnnNormalizationForwardTraining(void*, int, int, int, const void*, const void*, void*,
                                      const void*, void*, const void*, const void*, double, void*,
                                      void*, void*, double, void*, void*, void*, void*, const void*,
                                      void*, void*, void*, size_t, void*, size_t, int);
int cudnnOpTensor(void*, void*, const void*, void*, const void*, const void*, void*, const void*,
                  const void*, void*, void*);
int cudnnPoolingBackward(void*, void*, const void*, void*, const void*, void*, const void*, void*,
                         const void*, const void*, void*, void*);
int cudnnPoolingForward(void*, void*, const void*, void*, const void*, const void*, void*, void*);
int cudnnReduceTensor(void*, void*, void*, size_t, void*, size_t, const void*, void*, const void*,
                      const void*, void*, void*);
int cudnnScaleTensor(void*, void*, void*, const void*);
int cudnnSetActivationDescriptor(void*, int, int, double);
int cudnnSetLRNDescriptor(void*, unsigned, double, double, double);
int cudnnSetOpTensorDescriptor(void*, int, int, int);
int cudnnSetPoolingNdDescriptor(void*, int, int, int, const int*, const int*, const int*);
int cudnnSetReduceTensorDescriptor(void*, int, int, int, int, int);
int cudnnSetSpatialTransformerNdDescriptor(void*, int, int, int, const int*);
int cudnnSoftmaxBackward(void*, int, int, const void*, void*, const void*, void*, const void*,
                         const void*, void*, void*);
int cudnnSoftmaxForward(void*, int, int, const void*, void*, const void*, const void*, void*,
                        void*);
int cudnnSpatialTfGridGeneratorBackward(void*, void*, const void*, void*);
int cudnnSpatialTfGridGeneratorForward(void*, void*, const void*, void*);
int cudnnSpatialTfSamplerBackward(void*, void*, const void*, void*, const void*, const void*, void*,
                                  void*, const void*, void*, const void*, const void*, const void*,
                                  void*);
int cudnnSpatialTfSamplerForward(void*, void*, const void*, void*, const void*, const void*,
                                 const void*, void*, void*);
int cudnnTransformTensor(void*, const void*, void*, const void*, const void*, void*, void*);

#define OK(call) assert_int_equal((call), 0)
#define TEST(name) cmocka_unit_test(name)
enum { N = 2, C = 5, H = 4, W = 3, COUNT = N * C * H * W, RELU = 1, WINDOW = 2 };
static const int kDims[] = {N, C, H, W};
static const double kOne = 1, kZero = 0;
static const float kOneF = 1, kZeroF = 0;

static void* handle;
static cudaStream_t stream;
static tensor x, y, dy, dx; /* of the running test */

static int start(void** state) {
  (void)state;
  return cudnnCreate(&handle) != 0 || cudaStreamCreate(&stream) != cudaSuccess ||
         cudnnSetStream(handle, stream) != 0;
}
static int end(void** state) {
  (void)state;
  return cudnnDestroy(handle) != 0 || cudaStreamDestroy(stream) != cudaSuccess;
}
static void make_tensors(int type) {
  x = make_tensor(type, 4, kDims, 0);
  y = make_tensor(type, 4, kDims, 0);
  dy = make_tensor(type, 4, kDims, 0);
  dx = make_tensor(type, 4, kDims, 0);
}
static void free_tensors(void) {
  tensor* const all[] = {&x, &y, &dy, &dx};
  for (int i = 0; i < 4; ++i) free_tensor(all[i]);
}
static void draw_values(tensor* t) {
  for (size_t i = 0; i < t->count; ++i) set_nth(t, i, (double)between(-64, 64) / 32);
}

/* Captures the calls once, and launches them for two sets of inputs. */
static void launch_twice(void (*make_calls)(void), void (*check)(void)) {
  cudaGraph_t graph = NULL;
  cudaGraphExec_t exec = NULL;
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  make_calls();
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphDestroy(graph));
  for (int round = 0; round < 2; ++round) {
    draw_values(&x);
    draw_values(&dy);
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    check();
  }
  OK(cudaGraphExecDestroy(exec));
}

/* The derivative of a sum of f(x) dy by differences: of `values[at]`. */
static double difference(double (*loss)(void), tensor* of, size_t at) {
  const double old = get_nth(of, at), step = 1.0 / (1 << 14);
  set_nth(of, at, old + step);
  const double above = loss();
  set_nth(of, at, old - step);
  const double below = loss();
  set_nth(of, at, old);
  return (above - below) / (2 * step);
}
static void expect_near(double value, double expected, double room, const char* what, size_t at) {
  if (fabs(value - expected) <= room * (1 + fabs(expected))) return;
  fail_msg("%s %zu is %.12g, not %.12g", what, at, value, expected);
}

/* --- Normalization across channels --- */

static void* lrn;
static const unsigned kLrnSize = 3;
static const double kLrnAlpha = 0.3, kLrnBeta = 0.75, kLrnK = 1.5;

static double plain_lrn(size_t i) {
  int at[MOST];
  position_of(&x, i, at);
  const int c = at[1];
  long double sum = 0;
  for (int k = c - 1; k <= c + 1; ++k) {
    at[1] = k;
    if (k >= 0 && k < C) sum += (long double)get(&x, at) * (long double)get(&x, at);
  }
  return (double)((long double)get_nth(&x, i) *
                  powl((long double)kLrnK + (long double)kLrnAlpha / kLrnSize * sum,
                       -(long double)kLrnBeta));
}
static double lrn_loss(void) {
  long double sum = 0;
  for (size_t i = 0; i < COUNT; ++i) {
    sum += (long double)plain_lrn(i) * (long double)get_nth(&dy, i);
  }
  return (double)sum;
}
static void call_lrn(void) {
  OK(cudnnLRNCrossChannelForward(handle, lrn, 0, &kOne, x.descriptor, x.data, &kZero, y.descriptor,
                                 y.data));
  OK(cudnnLRNCrossChannelBackward(handle, lrn, 0, &kOne, y.descriptor, y.data, dy.descriptor,
                                  dy.data, x.descriptor, x.data, &kZero, dx.descriptor, dx.data));
}
static void check_lrn(void) {
  for (size_t i = 0; i < COUNT; ++i) {
    expect_near(get_nth(&y, i), plain_lrn(i), 1e-12, "y", i);
    expect_near(get_nth(&dx, i), difference(lrn_loss, &x, i), 1e-6, "dx", i);
  }
}
static void responses_and_their_gradients(void** state) {
  (void)state;
  random_state = 5;
  make_tensors(F64);
  OK(cudnnCreateLRNDescriptor(&lrn));
  OK(cudnnSetLRNDescriptor(lrn, kLrnSize, kLrnAlpha, kLrnBeta, kLrnK));
  launch_twice(call_lrn, check_lrn);
  OK(cudnnDestroyLRNDescriptor(lrn));
  free_tensors();
}

/* --- Batch normalization with an activation and a summand --- */

enum { PER_ACTIVATION, SPATIAL };
enum { BN_ONLY, BN_ACTIVATION, BN_ADD_ACTIVATION };
static struct {
  int mode, ops, is_older; /* older: cudnnBatchNormalization*, else cudnnNormalization* */
  tensor z, dz, scale, bias, dscale, dbias, mean, variance, saved_mean, saved_inverse;
  double old_mean[C * H * W], old_variance[C * H * W];
  void *activation, *reserve;
  size_t reserve_bytes;
} bn;
static const double kEpsilon = 1e-3, kShare = 0.25;

/* The element of the parameters that belongs to an element of x. */
static size_t parameter_of(size_t i) {
  return bn.mode == SPATIAL ? i / (H * W) % C : i % (C * H * W);
}
static void plain_statistics(size_t p, long double* mean, long double* variance, int* members) {
  long double sum = 0, squares = 0;
  *members = 0;
  for (size_t i = 0; i < COUNT; ++i) {
    if (parameter_of(i) != p) continue;
    sum += (long double)get_nth(&x, i);
    ++*members;
  }
  *mean = sum / *members;
  for (size_t i = 0; i < COUNT; ++i) {
    if (parameter_of(i) != p) continue;
    const long double from = (long double)get_nth(&x, i) - *mean;
    squares += from * from;
  }
  *variance = squares / *members;
}
/* y before the activation. */
static long double plain_sum(size_t i, long double mean, long double variance) {
  const size_t p = parameter_of(i);
  const long double normal =
      ((long double)get_nth(&x, i) - mean) / sqrtl(variance + (long double)kEpsilon);
  const long double z = bn.ops == BN_ADD_ACTIVATION ? (long double)get_nth(&bn.z, i) : 0;
  return normal * (long double)get_nth(&bn.scale, p) + (long double)get_nth(&bn.bias, p) + z;
}
static long double plain_bn(size_t i, long double mean, long double variance) {
  const long double sum = plain_sum(i, mean, variance);
  return bn.ops == BN_ONLY || sum > 0 ? sum : 0;
}
static double bn_loss(void) {
  long double total = 0, mean = 0, variance = 0;
  int members = 0;
  for (size_t p = 0; p < bn.scale.count; ++p) {
    plain_statistics(p, &mean, &variance, &members);
    for (size_t i = 0; i < COUNT; ++i) {
      if (parameter_of(i) == p) {
        total += plain_bn(i, mean, variance) * (long double)get_nth(&dy, i);
      }
    }
  }
  return (double)total;
}

static void call_training(void) {
  void* const p = bn.scale.descriptor;
  if (bn.is_older) {
    OK(cudnnBatchNormalizationForwardTrainingEx(
        handle, bn.mode, bn.ops, &kOne, &kZero, x.descriptor, x.data, bn.z.descriptor, bn.z.data,
        y.descriptor, y.data, p, bn.scale.data, bn.bias.data, kShare, bn.mean.data,
        bn.variance.data, kEpsilon, bn.saved_mean.data, bn.saved_inverse.data, bn.activation, NULL,
        0, bn.reserve, bn.reserve_bytes));
    OK(cudnnBatchNormalizationBackwardEx(
        handle, bn.mode, bn.ops, &kOne, &kZero, &kOne, &kZero, x.descriptor, x.data, y.descriptor,
        y.data, dy.descriptor, dy.data, bn.dz.descriptor, bn.dz.data, dx.descriptor, dx.data, p,
        bn.scale.data, bn.bias.data, bn.dscale.data, bn.dbias.data, kEpsilon, bn.saved_mean.data,
        bn.saved_inverse.data, bn.activation, NULL, 0, bn.reserve, bn.reserve_bytes));
    return;
  }
  OK(cudnnNormalizationForwardTraining(
      handle, bn.mode, bn.ops, 0, &kOne, &kZero, x.descriptor, x.data, p, bn.scale.data,
      bn.bias.data, kShare, p, bn.mean.data, bn.variance.data, kEpsilon, bn.saved_mean.data,
      bn.saved_inverse.data, bn.activation, bn.z.descriptor, bn.z.data, y.descriptor, y.data, NULL,
      0, bn.reserve, bn.reserve_bytes, 1));
  OK(cudnnNormalizationBackward(
      handle, bn.mode, bn.ops, 0, &kOne, &kZero, &kOne, &kZero, x.descriptor, x.data, y.descriptor,
      y.data, dy.descriptor, dy.data, bn.dz.descriptor, bn.dz.data, dx.descriptor, dx.data, p,
      bn.scale.data, bn.bias.data, bn.dscale.data, bn.dbias.data, kEpsilon, p, bn.saved_mean.data,
      bn.saved_inverse.data, bn.activation, NULL, 0, bn.reserve, bn.reserve_bytes, 1));
}
static void check_parameter(size_t p) {
  long double mean = 0, variance = 0;
  int members = 0;
  plain_statistics(p, &mean, &variance, &members);
  const long double whole = variance * members / (members - 1); /* of the population */
  expect_near(get_nth(&bn.saved_mean, p), (double)mean, 1e-11, "saved mean", p);
  expect_near(get_nth(&bn.saved_inverse, p), (double)(1 / sqrtl(variance + (long double)kEpsilon)),
              1e-11, "saved inverse", p);
  expect_near(get_nth(&bn.mean, p), bn.old_mean[p] * (1 - kShare) + (double)mean * kShare, 1e-11,
              "running mean", p);
  expect_near(get_nth(&bn.variance, p), bn.old_variance[p] * (1 - kShare) + (double)whole * kShare,
              1e-11, "running variance", p);
  bn.old_mean[p] = get_nth(&bn.mean, p);
  bn.old_variance[p] = get_nth(&bn.variance, p);
  for (size_t i = 0; i < COUNT; ++i) {
    if (parameter_of(i) != p) continue;
    expect_near(get_nth(&y, i), (double)plain_bn(i, mean, variance), 1e-11, "y", i);
    if (bn.ops != BN_ADD_ACTIVATION) continue;
    const double passed = plain_sum(i, mean, variance) > 0 ? get_nth(&dy, i) : 0;
    expect_near(get_nth(&bn.dz, i), passed, 1e-12, "dz", i);
  }
}
static void check_training(void) {
  for (size_t p = 0; p < bn.scale.count; ++p) {
    check_parameter(p);
    expect_near(get_nth(&bn.dscale, p), difference(bn_loss, &bn.scale, p), 1e-5, "dscale", p);
    expect_near(get_nth(&bn.dbias, p), difference(bn_loss, &bn.bias, p), 1e-5, "dbias", p);
  }
  for (size_t i = 0; i < COUNT; i += 7) {
    expect_near(get_nth(&dx, i), difference(bn_loss, &x, i), 1e-3, "dx", i);
  }
}
static void call_inference(void) {
  void* const p = bn.scale.descriptor;
  if (bn.is_older) {
    OK(cudnnBatchNormalizationForwardInference(handle, bn.mode, &kOne, &kZero, x.descriptor, x.data,
                                               y.descriptor, y.data, p, bn.scale.data, bn.bias.data,
                                               bn.mean.data, bn.variance.data, kEpsilon));
    return;
  }
  OK(cudnnNormalizationForwardInference(handle, bn.mode, bn.ops, 0, &kOne, &kZero, x.descriptor,
                                        x.data, p, bn.scale.data, bn.bias.data, p, bn.mean.data,
                                        bn.variance.data, bn.z.descriptor, bn.z.data, bn.activation,
                                        y.descriptor, y.data, kEpsilon, 1));
}
static void check_inference(void) {
  for (size_t i = 0; i < COUNT; ++i) {
    const size_t p = parameter_of(i);
    const long double expected =
        plain_bn(i, (long double)get_nth(&bn.mean, p), (long double)get_nth(&bn.variance, p));
    expect_near(get_nth(&y, i), (double)expected, 1e-11, "y of an inference", i);
  }
}
static void normalize(int mode, int ops, int is_older) {
  random_state = (uint64_t)(mode * 10 + ops * 2 + is_older + 7);
  make_tensors(F64);
  const int spatial[] = {1, C, 1, 1}, activations[] = {1, C, H, W};
  const int* const dims = mode == SPATIAL ? spatial : activations;
  bn.mode = mode;
  bn.ops = ops;
  bn.is_older = is_older;
  bn.z = make_tensor(F64, 4, kDims, 0);
  bn.dz = make_tensor(F64, 4, kDims, 0);
  tensor* const parameters[] = {&bn.scale, &bn.bias,     &bn.dscale,     &bn.dbias,
                                &bn.mean,  &bn.variance, &bn.saved_mean, &bn.saved_inverse};
  for (int i = 0; i < 8; ++i) *parameters[i] = make_tensor(F64, 4, dims, 0);
  OK(cudnnDeriveBNTensorDescriptor(bn.scale.descriptor, x.descriptor, mode));
  for (size_t p = 0; p < bn.scale.count; ++p) {
    set_nth(&bn.variance, p, fabs(get_nth(&bn.variance, p)) + 0.5);
    bn.old_mean[p] = get_nth(&bn.mean, p);
    bn.old_variance[p] = get_nth(&bn.variance, p);
  }
  OK(cudnnCreateActivationDescriptor(&bn.activation));
  OK(cudnnSetActivationDescriptor(bn.activation, RELU, 0, 0));
  OK(cudnnGetBatchNormalizationTrainingExReserveSpaceSize(handle, mode, ops, bn.activation,
                                                          x.descriptor, &bn.reserve_bytes));
  OK(cudaMalloc(&bn.reserve, bn.reserve_bytes + 1));
  launch_twice(call_training, check_training);
  if (ops == BN_ONLY || !is_older) launch_twice(call_inference, check_inference);
  OK(cudaFree(bn.reserve));
  OK(cudnnDestroyActivationDescriptor(bn.activation));
  for (int i = 0; i < 8; ++i) free_tensor(parameters[i]);
  free_tensor(&bn.z);
  free_tensor(&bn.dz);
  free_tensors();
}
static void batches_are_normalized_with_activation_and_summand(void** state) {
  (void)state;
  for (int ops = BN_ONLY; ops <= BN_ADD_ACTIVATION; ++ops) {
    for (int is_older = 0; is_older < 2; ++is_older) normalize(SPATIAL, ops, is_older);
  }
  normalize(PER_ACTIVATION, BN_ONLY, 0);
  normalize(PER_ACTIVATION, BN_ONLY, 1);
}

/* --- Spatial transformers --- */

enum { OUT_H = 3, OUT_W = 5 };
static struct {
  void* transformer;
  tensor theta, grid, dgrid, dtheta, out, dout;
} st;

static long double pixel(int n, int c, long double h, long double w) {
  if (h < 0 || w < 0 || h > H - 1 || w > W - 1) return 0;
  return (long double)get(&x, (const int[]){n, c, (int)h, (int)w});
}
static long double plain_sample(int n, int c, int h, int w) {
  const long double gx = (long double)get(&st.grid, (const int[]){n, h, w, 0});
  const long double gy = (long double)get(&st.grid, (const int[]){n, h, w, 1});
  const long double px = (gx + 1) * (W - 1) / 2, py = (gy + 1) * (H - 1) / 2;
  const long double left = floorl(px), top = floorl(py), a = px - left, b = py - top;
  return (1 - a) * (1 - b) * pixel(n, c, top, left) + a * (1 - b) * pixel(n, c, top, left + 1) +
         (1 - a) * b * pixel(n, c, top + 1, left) + a * b * pixel(n, c, top + 1, left + 1);
}
static double sample_loss(void) {
  long double sum = 0;
  for (size_t i = 0; i < st.out.count; ++i) {
    int at[MOST];
    position_of(&st.out, i, at);
    sum += plain_sample(at[0], at[1], at[2], at[3]) * (long double)get(&st.dout, at);
  }
  return (double)sum;
}
static void call_transformer(void) {
  OK(cudnnSpatialTfGridGeneratorForward(handle, st.transformer, st.theta.data, st.grid.data));
  OK(cudnnSpatialTfSamplerForward(handle, st.transformer, &kOne, x.descriptor, x.data, st.grid.data,
                                  &kZero, st.out.descriptor, st.out.data));
  OK(cudnnSpatialTfSamplerBackward(handle, st.transformer, &kOne, x.descriptor, x.data, &kZero,
                                   dx.descriptor, dx.data, &kOne, st.dout.descriptor, st.dout.data,
                                   st.grid.data, &kZero, st.dgrid.data));
  OK(cudnnSpatialTfGridGeneratorBackward(handle, st.transformer, st.dgrid.data, st.dtheta.data));
}
static void check_transformer(void) {
  double sums[N * 6] = {0};
  for (size_t i = 0; i < st.grid.count; ++i) {
    int at[MOST];
    position_of(&st.grid, i, at);
    const double place[] = {-1 + 2.0 * at[2] / (OUT_W - 1), -1 + 2.0 * at[1] / (OUT_H - 1), 1};
    double expected = 0;
    for (int k = 0; k < 3; ++k) {
      expected += get(&st.theta, (const int[]){at[0], at[3], k, 0}) * place[k];
      sums[at[0] * 6 + at[3] * 3 + k] += get(&st.dgrid, at) * place[k];
    }
    expect_near(get_nth(&st.grid, i), expected, 1e-12, "grid", i);
    expect_near(get_nth(&st.dgrid, i), difference(sample_loss, &st.grid, i), 1e-8, "dgrid", i);
  }
  for (size_t i = 0; i < st.out.count; ++i) {
    int at[MOST];
    position_of(&st.out, i, at);
    expect_near(get(&st.out, at), (double)plain_sample(at[0], at[1], at[2], at[3]), 1e-12, "y", i);
  }
  for (size_t i = 0; i < COUNT; ++i) {
    expect_near(get_nth(&dx, i), difference(sample_loss, &x, i), 1e-8, "dx", i);
  }
  for (size_t i = 0; i < N * 6; ++i) {
    expect_near(get_nth(&st.dtheta, i), sums[i], 1e-11, "dtheta", i);
  }
}
static void spatial_transformers_sample_where_theta_says(void** state) {
  (void)state;
  random_state = 9;
  make_tensors(F64);
  const int theta_dims[] = {N, 2, 3, 1}, grid_dims[] = {N, OUT_H, OUT_W, 2};
  const int out_dims[] = {N, C, OUT_H, OUT_W};
  st.theta = make_tensor(F64, 4, theta_dims, 0);
  st.dtheta = make_tensor(F64, 4, theta_dims, 0);
  st.grid = make_tensor(F64, 4, grid_dims, 0);
  st.dgrid = make_tensor(F64, 4, grid_dims, 0);
  st.out = make_tensor(F64, 4, out_dims, 0);
  st.dout = make_tensor(F64, 4, out_dims, 0);
  /* away from pixels' borders, where differences have no limit */
  for (size_t i = 0; i < N * 6; ++i) set_nth(&st.theta, i, (double)between(-900, 900) / 1357);
  OK(cudnnCreateSpatialTransformerDescriptor(&st.transformer));
  OK(cudnnSetSpatialTransformerNdDescriptor(st.transformer, 0, F64, 4, out_dims));
  launch_twice(call_transformer, check_transformer);
  OK(cudnnDestroySpatialTransformerDescriptor(st.transformer));
  tensor* const all[] = {&st.theta, &st.dtheta, &st.grid, &st.dgrid, &st.out, &st.dout};
  for (int i = 0; i < 6; ++i) free_tensor(all[i]);
  free_tensors();
}

/* --- Captured calls give what direct calls give --- */

static void *activation, *pooling, *op_tensor, *reduction;
static tensor pooled, dpooled, reduced, bias;

static void call_activation(void) {
  OK(cudnnActivationForward(handle, activation, &kOneF, x.descriptor, x.data, &kZeroF, y.descriptor,
                            y.data));
  OK(cudnnActivationBackward(handle, activation, &kOneF, y.descriptor, y.data, dy.descriptor,
                             dy.data, x.descriptor, x.data, &kZeroF, dx.descriptor, dx.data));
}
static int softmax_algorithm, softmax_mode;
static void call_softmax(void) {
  OK(cudnnSoftmaxForward(handle, softmax_algorithm, softmax_mode, &kOneF, x.descriptor, x.data,
                         &kZeroF, y.descriptor, y.data));
  OK(cudnnSoftmaxBackward(handle, softmax_algorithm, softmax_mode, &kOneF, y.descriptor, y.data,
                          dy.descriptor, dy.data, &kZeroF, dx.descriptor, dx.data));
}
static void call_pooling(void) {
  OK(cudnnPoolingForward(handle, pooling, &kOneF, x.descriptor, x.data, &kZeroF, pooled.descriptor,
                         pooled.data));
  OK(cudnnPoolingBackward(handle, pooling, &kOneF, pooled.descriptor, pooled.data,
                          dpooled.descriptor, dpooled.data, x.descriptor, x.data, &kZeroF,
                          dx.descriptor, dx.data));
}
static void call_elements(void) {
  OK(cudnnOpTensor(handle, op_tensor, &kOneF, x.descriptor, x.data, &kOneF, dy.descriptor, dy.data,
                   &kZeroF, y.descriptor, y.data));
  OK(cudnnTransformTensor(handle, &kOneF, y.descriptor, y.data, &kZeroF, dx.descriptor, dx.data));
  OK(cudnnAddTensor(handle, &kOneF, bias.descriptor, bias.data, &kOneF, dx.descriptor, dx.data));
  OK(cudnnScaleTensor(handle, y.descriptor, y.data, &kOneF));
  OK(cudnnReduceTensor(handle, reduction, NULL, 0, NULL, 0, &kOneF, dx.descriptor, dx.data, &kZeroF,
                       reduced.descriptor, reduced.data));
}
static void (*direct)(void);
/* Compares with the results of the direct calls, which replace those of the graph. */
static void check_against_direct_calls(void) {
  tensor* const results[] = {&y, &dx, &pooled, &reduced};
  double* values[4];
  for (int i = 0; i < 4; ++i) {
    values[i] = values_of(results[i]);
    memset(results[i]->data, 0x11, results[i]->span * bytes_of(results[i]->type));
  }
  direct();
  OK(cudaStreamSynchronize(stream));
  int changed = 0;
  for (int i = 0; i < 4; ++i) {
    double* const now = values_of(results[i]);
    const size_t bytes = results[i]->count * sizeof *now;
    const float unset = float_of_bits(0x11111111);
    for (size_t k = 0; k < results[i]->count; ++k) changed |= now[k] != (double)unset;
    if (now[0] != (double)unset) assert_memory_equal(values[i], now, bytes);
    free(now);
    free(values[i]);
  }
  assert_true(changed);
}
static void check_calls(void (*calls)(void)) {
  direct = calls;
  launch_twice(calls, check_against_direct_calls);
}
static void set_up_calls(void) {
  const int pooled_dims[] = {N, C, H - WINDOW + 1, W - WINDOW + 1}, sum_dims[] = {N, 1, H, 1};
  const int bias_dims[] = {1, C, 1, 1};
  make_tensors(F32);
  pooled = make_tensor(F32, 4, pooled_dims, 0);
  dpooled = make_tensor(F32, 4, pooled_dims, 0);
  reduced = make_tensor(F32, 4, sum_dims, 0);
  bias = make_tensor(F32, 4, bias_dims, 0);
  OK(cudnnCreateActivationDescriptor(&activation));
  OK(cudnnCreatePoolingDescriptor(&pooling));
  OK(cudnnCreateOpTensorDescriptor(&op_tensor));
  OK(cudnnCreateReduceTensorDescriptor(&reduction));
}
static void captured_calls_give_what_direct_ones_give(void** state) {
  (void)state;
  const int window[] = {WINDOW, WINDOW}, pads[] = {0, 0}, steps[] = {1, 1};
  random_state = 13;
  set_up_calls();
  for (int mode = 0; mode < 5; ++mode) { /* SIGMOID to ELU */
    OK(cudnnSetActivationDescriptor(activation, mode, 0, 1.25));
    check_calls(call_activation);
  }
  for (int i = 0; i < 6; ++i) {
    softmax_algorithm = i / 2;
    softmax_mode = i % 2;
    check_calls(call_softmax);
  }
  for (int mode = 0; mode < 4; ++mode) {
    OK(cudnnSetPoolingNdDescriptor(pooling, mode, 0, 2, window, pads, steps));
    check_calls(call_pooling);
  }
  for (int mode = 0; mode < 8;
       ++mode) { /* operations ADD to NOT by turns, reductions ADD to NORM2 */
    OK(cudnnSetOpTensorDescriptor(op_tensor, mode % 4, F32, 0));
    OK(cudnnSetReduceTensorDescriptor(reduction, mode, F32, 0, 0, 0));
    check_calls(call_elements);
  }
  OK(cudnnDestroyActivationDescriptor(activation));
  OK(cudnnDestroyPoolingDescriptor(pooling));
  OK(cudnnDestroyOpTensorDescriptor(op_tensor));
  OK(cudnnDestroyReduceTensorDescriptor(reduction));
  tensor* const all[] = {&pooled, &dpooled, &reduced, &bias};
  for (int i = 0; i < 4; ++i) free_tensor(all[i]);
  free_tensors();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(responses_and_their_gradients),
      TEST(batches_are_normalized_with_activation_and_summand),
      TEST(spatial_transformers_sample_where_theta_says),
      TEST(captured_calls_give_what_direct_ones_give),
  };
  return cmocka_run_group_tests(tests, start, end);
}
