/* Recurrent networks of cuDNN: a cell against its formulas, and gradients against differences. */
#include "cudnn_support.h"

int cudnnCreateRNNDescriptor(void**);
int cudnnSetRNNDescriptor_v8(void*, int, int, int, int, int, int, int, int, int, int, int, int,
                             void*, unsigned);
int cudnnRNNSetClip_v9(void*, int, double, double);
int cudnnDestroyRNNDescriptor(void*);
int cudnnCreateRNNDataDescriptor(void**);
int cudnnSetRNNDataDescriptor(void*, int, int, int, int, int, const int*, void*);
int cudnnDestroyRNNDataDescriptor(void*);
int cudnnGetRNNTempSpaceSizes(void*, void*, int, void*, size_t*, size_t*);
int cudnnGetRNNWeightSpaceSize(void*, void*, size_t*);
int cudnnGetRNNWeightParams(void*, void*, int, size_t, const void*, int, void*, void**, void*,
                            void**);
int cudnnRNNForward(void*, void*, int, const int*, void*, const void*, void*, void*, void*,
                    const void*, void*, void*, const void*, void*, size_t, const void*, size_t,
                    void*, size_t, void*);
int cudnnRNNBackwardData_v8(void*, void*, const int*, void*, const void*, const void*, void*, void*,
                            void*, const void*, const void*, void*, void*, const void*, const void*,
                            void*, size_t, const void*, size_t, void*, size_t, void*);
int cudnnRNNBackwardWeights_v8(void*, void*, int, const int*, void*, const void*, void*,
                               const void*, void*, const void*, size_t, void*, size_t, void*,
                               size_t, void*);

enum { RELU, TANH, LSTM, GRU };
enum { STEPS = 4, BATCH = 3 };

/* A network of f64 in managed memory. */
typedef struct {
  int mode, directions, layers, input, hidden, projection, layout;
  void *handle, *network, *x_desc, *y_desc;
  size_t weight_count, reserve_bytes, x_count, y_count, h_count, c_count;
  double *x, *y, *w, *hx, *cx, *hy, *cy, *dx, *dy, *dw, *dhx, *dcx, *dhy, *dcy;
  void* reserve;
} net;

static const int kLengths[BATCH] = {4, 3, 1};
static double g_clip; /* the largest magnitude of a cell's state; 0: any */

static double* numbers(size_t count) {
  double* memory = NULL;
  assert_int_equal(cudaMallocManaged((void**)&memory, count * 8, cudaMemAttachGlobal), 0);
  for (size_t i = 0; i < count; ++i) memory[i] = (double)between(-32, 32) / 40;
  return memory;
}
static void* data_of(int layout, int width) {
  void* descriptor = NULL;
  double zero = 0;
  assert_int_equal(cudnnCreateRNNDataDescriptor(&descriptor), 0);
  assert_int_equal(
      cudnnSetRNNDataDescriptor(descriptor, F64, layout, STEPS, BATCH, width, kLengths, &zero), 0);
  return descriptor;
}
static net make_net(int mode, int directions, int layers, int projection, int layout) {
  net n = {.mode = mode,
           .directions = directions,
           .layers = layers,
           .input = 3,
           .hidden = 4,
           .projection = projection,
           .layout = layout};
  const int out = projection ? projection : n.hidden;
  size_t bytes = 0, work = 0;
  assert_int_equal(cudnnCreate(&n.handle), 0);
  assert_int_equal(cudnnCreateRNNDescriptor(&n.network), 0);
  assert_int_equal(cudnnSetRNNDescriptor_v8(n.network, 0, mode, 2, directions - 1, 0, F64, F64, 0,
                                            n.input, n.hidden, out, layers, NULL, 0),
                   0);
  if (g_clip > 0) assert_int_equal(cudnnRNNSetClip_v9(n.network, 1, -g_clip, g_clip), 0);
  n.x_desc = data_of(layout, n.input);
  n.y_desc = data_of(layout, out * directions);
  assert_int_equal(cudnnGetRNNWeightSpaceSize(n.handle, n.network, &bytes), 0);
  assert_int_equal(
      cudnnGetRNNTempSpaceSizes(n.handle, n.network, 1, n.x_desc, &work, &n.reserve_bytes), 0);
  n.weight_count = bytes / 8;
  n.x_count = (size_t)(STEPS * BATCH * n.input);
  n.y_count = (size_t)(STEPS * BATCH * out * directions);
  n.h_count = (size_t)(layers * directions * BATCH * out);
  n.c_count = (size_t)(layers * directions * BATCH * n.hidden);
  n.x = numbers(n.x_count);
  n.dx = numbers(n.x_count);
  n.y = numbers(n.y_count);
  n.dy = numbers(n.y_count);
  n.w = numbers(n.weight_count);
  n.dw = numbers(n.weight_count);
  n.hx = numbers(n.h_count);
  n.hy = numbers(n.h_count);
  n.dhx = numbers(n.h_count);
  n.dhy = numbers(n.h_count);
  n.cx = numbers(n.c_count);
  n.cy = numbers(n.c_count);
  n.dcx = numbers(n.c_count);
  n.dcy = numbers(n.c_count);
  assert_int_equal(cudaMalloc(&n.reserve, n.reserve_bytes), 0);
  return n;
}
static void free_net(net* n) {
  double* const memory[] = {n->x,  n->y,  n->w,  n->hx,  n->cx,  n->hy,  n->cy,
                            n->dx, n->dy, n->dw, n->dhx, n->dcx, n->dhy, n->dcy};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; ++i) {
    assert_int_equal(cudaFree(memory[i]), 0);
  }
  assert_int_equal(cudaFree(n->reserve), 0);
  assert_int_equal(cudnnDestroyRNNDataDescriptor(n->x_desc), 0);
  assert_int_equal(cudnnDestroyRNNDataDescriptor(n->y_desc), 0);
  assert_int_equal(cudnnDestroyRNNDescriptor(n->network), 0);
  assert_int_equal(cudnnDestroy(n->handle), 0);
}

static void forward(net* n) {
  assert_int_equal(cudnnRNNForward(n->handle, n->network, 1, NULL, n->x_desc, n->x, n->y_desc, n->y,
                                   NULL, n->hx, n->hy, NULL, n->cx, n->cy, n->weight_count * 8,
                                   n->w, 0, NULL, n->reserve_bytes, n->reserve),
                   0);
  assert_int_equal(cudaDeviceSynchronize(), 0);
}
/* The number of vectors that y has, and the sum of all outputs, weighted by their gradients. */
static size_t vectors(const net* n) { return n->layout == 1 ? 8 : STEPS * BATCH; }
static double loss(net* n) {
  forward(n);
  double sum = 0;
  const size_t width = n->y_count / (STEPS * BATCH);
  for (size_t i = 0; i < vectors(n) * width; ++i) sum += n->y[i] * n->dy[i];
  for (size_t i = 0; i < n->h_count; ++i) sum += n->hy[i] * n->dhy[i];
  for (size_t i = 0; i < n->c_count && n->mode == LSTM; ++i) sum += n->cy[i] * n->dcy[i];
  return sum;
}
/* Compares gradients with differences of the loss. */
static void expect_gradient(net* n, double* values, const double* gradient, size_t count,
                            const char* name) {
  const double step = 1e-5;
  for (size_t i = 0; i < count; i += 1 + count / 40) {
    const double old = values[i];
    values[i] = old + step;
    const double above = loss(n);
    values[i] = old - step;
    const double below = loss(n);
    values[i] = old;
    const double expected = (above - below) / (2 * step);
    if (fabs(gradient[i] - expected) > 1e-6 * (1 + fabs(expected))) {
      fail_msg("mode %d, directions %d, layers %d: gradient %zu of %s is %g, not %g", n->mode,
               n->directions, n->layers, i, name, gradient[i], expected);
    }
  }
}

static void check_gradients(int mode, int directions, int layers, int projection, int layout) {
  random_state = (uint64_t)(mode * 100 + directions * 10 + layers) + 1;
  net n = make_net(mode, directions, layers, projection, layout);
  if (layout != 1) { /* padding has no gradient */
    const size_t width = n.y_count / (STEPS * BATCH);
    for (int t = 0; t < STEPS; ++t) {
      for (int b = 0; b < BATCH; ++b) {
        const size_t vector = (size_t)(layout == 2 ? b * STEPS + t : t * BATCH + b);
        if (t >= kLengths[b]) memset(n.dy + vector * width, 0, width * 8);
      }
    }
  }
  double* const before = malloc(n.weight_count * 8);
  memcpy(before, n.dw, n.weight_count * 8);
  forward(&n);
  assert_int_equal(
      cudnnRNNBackwardData_v8(n.handle, n.network, NULL, n.y_desc, n.y, n.dy, n.x_desc, n.dx, NULL,
                              n.hx, n.dhy, n.dhx, NULL, n.cx, n.dcy, n.dcx, n.weight_count * 8, n.w,
                              0, NULL, n.reserve_bytes, n.reserve),
      0);
  assert_int_equal(cudnnRNNBackwardWeights_v8(n.handle, n.network, 0, NULL, n.x_desc, n.x, NULL,
                                              n.hx, n.y_desc, n.y, n.weight_count * 8, n.dw, 0,
                                              NULL, n.reserve_bytes, n.reserve),
                   0);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  for (size_t i = 0; i < n.weight_count; ++i) n.dw[i] -= before[i]; /* gradients are added */
  expect_gradient(&n, n.w, n.dw, n.weight_count, "weights");
  const size_t x_count = vectors(&n) * (size_t)n.input;
  if (layout == 1) expect_gradient(&n, n.x, n.dx, x_count, "x");
  expect_gradient(&n, n.hx, n.dhx, n.h_count, "hx");
  if (mode == LSTM) expect_gradient(&n, n.cx, n.dcx, n.c_count, "cx");
  free(before);
  free_net(&n);
}

static void gradients_are_differences(void** state) {
  (void)state;
  for (int mode = RELU; mode <= GRU; ++mode) {
    for (int directions = 1; directions <= 2; ++directions) {
      check_gradients(mode, directions, 1, 0, 1);
      check_gradients(mode, directions, 2, 0, directions == 1 ? 0 : 2);
    }
  }
  check_gradients(LSTM, 1, 2, 2, 1);
  check_gradients(LSTM, 2, 2, 3, 1);
}

/* Half of the states or so are clipped: the parts of the network before them have no gradient. */
static void clipped_states_have_no_gradient(void** state) {
  (void)state;
  for (int directions = 1; directions <= 2; ++directions) {
    g_clip = 0.1;
    check_gradients(LSTM, directions, 1, 0, 1);
    check_gradients(LSTM, directions, 2, 3, 0);
    g_clip = 0;
  }
}

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

/* What matrix and bias `id` give for a vector. */
static double gate(net* n, int id, int row, const double* values, int count) {
  double *matrix = NULL, *bias = NULL;
  assert_int_equal(cudnnGetRNNWeightParams(n->handle, n->network, 0, n->weight_count * 8, n->w, id,
                                           NULL, (void**)&matrix, NULL, (void**)&bias),
                   0);
  double sum = bias[row];
  for (int i = 0; i < count; ++i) sum += matrix[row * count + i] * values[i];
  return sum;
}

static void cells_follow_their_formulas(void** state) {
  (void)state;
  for (int kind = RELU; kind <= GRU + 1; ++kind) {
    const int mode = kind > GRU ? LSTM : kind; /* the last one is clipped */
    random_state = (uint64_t)mode + 3;
    g_clip = kind > GRU ? 0.1 : 0;
    net n = make_net(mode, 1, 1, 0, 0);
    forward(&n);
    double h[4], c[4], next[4];
    memcpy(h, n.hx, sizeof h);
    memcpy(c, n.cx, sizeof c);
    for (int t = 0; t < kLengths[0]; ++t) { /* the first sequence */
      const double* const x = n.x + t * BATCH * n.input;
      for (int i = 0; i < 4; ++i) {
        double in[4], back[4];
        const int gates = mode == LSTM ? 4 : mode == GRU ? 3 : 1;
        for (int g = 0; g < gates; ++g) {
          in[g] = gate(&n, g, i, x, n.input);
          back[g] = gate(&n, gates + g, i, h, 4);
        }
        if (mode == RELU) next[i] = fmax(in[0] + back[0], 0);
        if (mode == TANH) next[i] = tanh(in[0] + back[0]);
        if (mode == LSTM) {
          c[i] = sigmoid(in[1] + back[1]) * c[i] + sigmoid(in[0] + back[0]) * tanh(in[2] + back[2]);
          if (g_clip > 0) c[i] = fmax(fmin(c[i], g_clip), -g_clip);
          next[i] = sigmoid(in[3] + back[3]) * tanh(c[i]);
        }
        if (mode == GRU) {
          const double r = sigmoid(in[0] + back[0]), z = sigmoid(in[1] + back[1]);
          next[i] = (1 - z) * tanh(in[2] + r * back[2]) + z * h[i];
        }
      }
      memcpy(h, next, sizeof h);
      for (int i = 0; i < 4; ++i) assert_true(fabs(n.y[t * BATCH * 4 + i] - h[i]) < 1e-12);
    }
    for (int i = 0; i < 4; ++i) {
      assert_true(fabs(n.hy[i] - h[i]) < 1e-12);
      assert_true(mode != LSTM || fabs(n.cy[i] - c[i]) < 1e-12);
      assert_true(n.y[(3 * BATCH + 2) * 4 + i] == 0); /* padding of the last sequence */
    }
    free_net(&n);
  }
  g_clip = 0;
}

/* Numbers of layers and sizes that no memory holds: the library made tables as long. */
static void networks_that_no_memory_holds_are_refused(void** state) {
  (void)state;
  const struct {
    int input, hidden, layers, status;
  } all[] = {{1, 1, INT32_MAX, NOT_SUPPORTED},
             {1, 1, 65537, NOT_SUPPORTED},
             {1, 1, 65536, 0},
             {INT32_MAX, INT32_MAX, 1, NOT_SUPPORTED},
             {INT32_MAX, INT32_MAX, INT32_MAX, NOT_SUPPORTED},
             {INT32_MAX, 1, 1, 0}};
  void *handle = NULL, *network = NULL;
  assert_int_equal(cudnnCreate(&handle), 0);
  assert_int_equal(cudnnCreateRNNDescriptor(&network), 0);
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    size_t size = 0;
    assert_int_equal(cudnnSetRNNDescriptor_v8(network, 0, LSTM, 2, 1, 0, F32, F32, 0, all[i].input,
                                              all[i].hidden, all[i].hidden, all[i].layers, NULL, 1),
                     all[i].status);
    if (all[i].status != 0) continue;
    assert_int_equal(cudnnGetRNNWeightSpaceSize(handle, network, &size), 0);
    assert_true(size > (size_t)all[i].layers * 8 * sizeof(float));
  }
  assert_int_equal(cudnnDestroyRNNDescriptor(network), 0);
  assert_int_equal(cudnnDestroy(handle), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cells_follow_their_formulas),
      cmocka_unit_test(gradients_are_differences),
      cmocka_unit_test(clipped_states_have_no_gradient),
      cmocka_unit_test(networks_that_no_memory_holds_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
