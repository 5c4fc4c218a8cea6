/* Multi-head attention of the API of cuDNN 7.5 against plain loops in long double, and gradients
   against differences of the plain loops. */
#include "cudnn_support.h"

int cudnnCreateAttnDescriptor(void**);
int cudnnSetAttnDescriptor(void*, unsigned, int, double, int, int, int, void*, void*, int, int, int,
                           int, int, int, int, int, int, int, int);
int cudnnDestroyAttnDescriptor(void*);
int cudnnCreateSeqDataDescriptor(void**);
int cudnnSetSeqDataDescriptor(void*, int, int, const int*, const int*, size_t, const int*, void*);
int cudnnGetSeqDataDescriptor(void*, int*, int*, int, int*, int*, size_t*, size_t, int*, void*);
int cudnnDestroySeqDataDescriptor(void*);
int cudnnGetTensorNdDescriptor(void*, int, int*, int*, int*, int*);
int cudnnGetMultiHeadAttnBuffers(void*, void*, size_t*, size_t*, size_t*);
int cudnnGetMultiHeadAttnWeights(void*, void*, int, size_t, const void*, void*, void**);
int cudnnMultiHeadAttnForward(void*, void*, int, const int*, const int*, const int*, const int*,
                              void*, const void*, const void*, void*, const void*, void*,
                              const void*, void*, void*, size_t, const void*, size_t, void*, size_t,
                              void*);
int cudnnMultiHeadAttnBackwardData(void*, void*, const int*, const int*, const int*, const int*,
                                   void*, const void*, void*, void*, const void*, void*, void*,
                                   const void*, void*, void*, const void*, size_t, const void*,
                                   size_t, void*, size_t, void*);
int cudnnMultiHeadAttnBackwardWeights(void*, void*, int, void*, const void*, void*, const void*,
                                      void*, const void*, void*, const void*, size_t, const void*,
                                      void*, size_t, void*, size_t, void*);

enum { ONE_TO_ONE = 1, BIASES = 2, Q = 0, K = 1, V = 2, O = 3, MOST_STEPS = 5 };

/* Sequences in f64: [time, batch, beam, vector] with an order of axes. */
typedef struct {
  int dims[4], axes[4], strides[4], lengths[8];
  size_t count;
  double* data;
  void* descriptor;
} sequences;

static double* managed(size_t count) {
  double* found = NULL;
  assert_int_equal(cudaMallocManaged((void**)&found, (count + 1) * sizeof *found, 1), 0);
  for (size_t i = 0; i < count; ++i) found[i] = (double)between(-32, 32) / 32;
  return found;
}
static sequences make_sequences(int steps, int batch, int beam, int width) {
  sequences s = {.dims = {steps, batch, beam, width}, .axes = {0, 1, 2, 3}};
  for (int i = 2; i > 0; --i) {
    const int j = between(0, i), other = s.axes[i];
    s.axes[i] = s.axes[j];
    s.axes[j] = other;
  }
  int stride = 1;
  for (int i = 3; i >= 0; --i) {
    s.strides[s.axes[i]] = stride;
    stride *= s.dims[s.axes[i]];
  }
  s.count = (size_t)stride;
  s.data = managed(s.count);
  for (int i = 0; i < batch * beam; ++i) s.lengths[i] = between(0, steps);
  assert_int_equal(cudnnCreateSeqDataDescriptor(&s.descriptor), 0);
  assert_int_equal(cudnnSetSeqDataDescriptor(s.descriptor, F64, 4, s.dims, s.axes,
                                             (size_t)(batch * beam), s.lengths, NULL),
                   0);
  return s;
}
static void free_sequences(sequences* s) {
  assert_int_equal(cudaFree(s->data), 0);
  assert_int_equal(cudnnDestroySeqDataDescriptor(s->descriptor), 0);
}
static double* at(const sequences* s, int step, int batch, int beam) {
  return s->data + step * s->strides[0] + batch * s->strides[1] + beam * s->strides[2];
}

typedef struct {
  int heads, size[3], projection[4], output, mode, batch, beam, has_residuals;
  double scale;
  sequences in[3], out; /* in[1] and in[2] have the lengths of in[1] */
  int first[MOST_STEPS], end[MOST_STEPS];
  double* weights;
  size_t weight_bytes, reserve_bytes;
  double* addresses[8];
  int strides[8][3];
  void* attention;
} problem;

static int width_of(const problem* p, int i) {
  return p->projection[i] ? p->projection[i] : p->size[i];
}

/* An element of a vector of q, k or v within a head. */
static long double projected(const problem* p, int which, int head, const double* x, int i) {
  if (!p->projection[which]) return (long double)x[i];
  const int* const s = p->strides[which];
  long double sum = 0;
  for (int j = 0; j < p->size[which]; ++j) {
    sum += (long double)p->addresses[which][head * s[0] + i * s[1] + j * s[2]] * (long double)x[j];
  }
  const int* const b = p->strides[which + 4];
  if (p->mode & BIASES) sum += (long double)p->addresses[which + 4][head * b[0] + i * b[1]];
  return sum;
}
/* The result of one head for one query. */
static void run_head(const problem* p, int head, int t, int batch, int beam, long double* to) {
  const int key_beam = p->mode & ONE_TO_ONE ? beam : 0;
  const int keys = p->in[K].lengths[batch * p->in[K].dims[2] + key_beam];
  long double scores[MOST_STEPS], sum = 0;
  for (int i = 0; i < width_of(p, V); ++i) to[i] = 0;
  for (int s = p->first[t]; s < p->end[t] && s < keys; ++s) {
    scores[s] = 0;
    for (int i = 0; i < width_of(p, Q); ++i) {
      scores[s] += projected(p, Q, head, at(&p->in[Q], t, batch, beam), i) *
                   projected(p, K, head, at(&p->in[K], s, batch, key_beam), i);
    }
    scores[s] = expl((long double)p->scale * scores[s]);
    sum += scores[s];
  }
  for (int s = p->first[t]; s < p->end[t] && s < keys; ++s) {
    for (int i = 0; i < width_of(p, V); ++i) {
      to[i] += scores[s] / sum * projected(p, V, head, at(&p->in[V], s, batch, key_beam), i);
    }
  }
}
/* The result for one query. */
static void run_query(const problem* p, int t, int batch, int beam, long double* to) {
  long double joined[4][8];
  const int width = width_of(p, V);
  for (int h = 0; h < p->heads; ++h) run_head(p, h, t, batch, beam, joined[h]);
  for (int i = 0; i < p->output; ++i) {
    to[i] = p->projection[O] ? 0 : joined[i / width][i % width];
    for (int h = 0; h < p->heads && p->projection[O]; ++h) {
      const int* const s = p->strides[O];
      for (int j = 0; j < width; ++j) {
        to[i] += (long double)p->addresses[O][h * s[0] + i * s[1] + j * s[2]] * joined[h][j];
      }
    }
    if (p->projection[O] && p->mode & BIASES) {
      to[i] += (long double)p->addresses[O + 4][i * p->strides[O + 4][1]];
    }
  }
}
/* The sum of all results times their gradients. */
static long double product(const problem* p, const sequences* dout) {
  long double sum = 0, row[32];
  for (int i = 0; i < p->batch * p->beam; ++i) {
    for (int t = 0; t < p->in[Q].lengths[i]; ++t) {
      run_query(p, t, i / p->beam, i % p->beam, row);
      const double* const g = at(dout, t, i / p->beam, i % p->beam);
      for (int j = 0; j < p->output; ++j) sum += row[j] * (long double)g[j];
    }
  }
  return sum;
}

static void find_weights(void* handle, problem* p) {
  void* tensor = NULL;
  assert_int_equal(cudnnCreateTensorDescriptor(&tensor), 0);
  for (int kind = 0; kind < 8; ++kind) {
    int type = 0, rank = 0, dims[3];
    assert_int_equal(cudnnGetMultiHeadAttnWeights(handle, p->attention, kind, p->weight_bytes,
                                                  p->weights, tensor, (void**)&p->addresses[kind]),
                     0);
    const int rows = p->projection[kind % 4];
    if (!rows || (kind > 3 && !(p->mode & BIASES))) {
      assert_null(p->addresses[kind]);
      continue;
    }
    assert_int_equal(cudnnGetTensorNdDescriptor(tensor, 3, &type, &rank, dims, p->strides[kind]),
                     0);
    assert_int_equal(type, F64);
    assert_int_equal(dims[0], kind == 7 ? 1 : p->heads);
    assert_int_equal(dims[1], rows);
    assert_int_equal(dims[2], kind > 3 ? 1 : kind == O ? width_of(p, V) : p->size[kind]);
  }
  assert_int_equal(cudnnDestroyTensorDescriptor(tensor), 0);
}
static problem make_problem(void* handle) {
  problem p = {.heads = between(1, 3), .mode = between(0, 3), .batch = between(1, 2)};
  p.beam = between(1, 2);
  p.scale = (double)between(0, 4) / 2;
  for (int i = 0; i < 3; ++i) {
    p.size[i] = between(1, 4);
    p.projection[i] = between(0, 3);
  }
  p.projection[O] = between(0, 4);
  p.size[K] = p.projection[K] ? p.size[K] : width_of(&p, Q);
  if (p.projection[K]) p.projection[K] = width_of(&p, Q);
  p.output = p.projection[O] ? p.projection[O] : p.heads * width_of(&p, V);
  const int queries = between(1, MOST_STEPS), keys = between(1, MOST_STEPS);
  const int key_beam = p.mode & ONE_TO_ONE ? p.beam : 1;
  p.in[Q] = make_sequences(queries, p.batch, p.beam, p.size[Q]);
  p.in[K] = make_sequences(keys, p.batch, key_beam, p.size[K]);
  p.in[V] = make_sequences(keys, p.batch, key_beam, p.size[V]);
  p.out = make_sequences(queries, p.batch, p.beam, p.output);
  p.has_residuals = p.output == p.size[Q] && between(0, 1);
  for (int t = 0; t < queries; ++t) {
    p.first[t] = between(0, keys);
    p.end[t] = between(p.first[t], keys);
  }
  assert_int_equal(cudnnCreateAttnDescriptor(&p.attention), 0);
  assert_int_equal(cudnnSetAttnDescriptor(p.attention, (unsigned)p.mode, p.heads, p.scale, F64, F64,
                                          0, NULL, NULL, p.size[Q], p.size[K], p.size[V],
                                          p.projection[Q], p.projection[K], p.projection[V],
                                          p.projection[O], queries, keys, p.batch, p.beam),
                   0);
  size_t workspace = 0;
  assert_int_equal(cudnnGetMultiHeadAttnBuffers(handle, p.attention, &p.weight_bytes, &workspace,
                                                &p.reserve_bytes),
                   0);
  p.weights = managed(p.weight_bytes / sizeof(double));
  find_weights(handle, &p);
  return p;
}
static void free_problem(problem* p) {
  for (int i = 0; i < 3; ++i) free_sequences(&p->in[i]);
  free_sequences(&p->out);
  assert_int_equal(cudaFree(p->weights), 0);
  assert_int_equal(cudnnDestroyAttnDescriptor(p->attention), 0);
}

static int* lengths_of(const sequences* s) {
  int* found = NULL;
  assert_int_equal(cudaMallocManaged((void**)&found, sizeof s->lengths, 1), 0);
  memcpy(found, s->lengths, sizeof s->lengths);
  return found;
}
static int forward(void* handle, problem* p, int step, const double* residuals, const int* lengths,
                   const int* key_lengths, void* reserve) {
  return cudnnMultiHeadAttnForward(handle, p->attention, step, p->first, p->end, lengths,
                                   key_lengths, p->in[Q].descriptor, p->in[Q].data, residuals,
                                   p->in[K].descriptor, p->in[K].data, p->in[V].descriptor,
                                   p->in[V].data, p->out.descriptor, p->out.data, p->weight_bytes,
                                   p->weights, 0, NULL, reserve ? p->reserve_bytes : 0, reserve);
}
static void check_results(const problem* p, const double* residuals, const double* old, int step) {
  for (int i = 0; i < p->batch * p->beam; ++i) {
    for (int t = 0; t < p->out.dims[0]; ++t) {
      long double row[32];
      const double* const y = at(&p->out, t, i / p->beam, i % p->beam);
      const int is_computed = t < p->in[Q].lengths[i] && (step < 0 || t == step);
      run_query(p, t, i / p->beam, i % p->beam, row);
      for (int j = 0; j < p->output; ++j) {
        double expected = is_computed ? (double)row[j] : old[y + j - p->out.data];
        if (is_computed && residuals) {
          expected += residuals[at(&p->in[Q], t, i / p->beam, i % p->beam) + j - p->in[Q].data];
        }
        if (!(fabs(y[j] - expected) <= 1e-12)) {
          fail_msg("step %d of %d: element %d is %g, not %g", t, i, j, y[j], expected);
        }
      }
    }
  }
}
/* Compares a gradient with differences of the product along some of `values`. */
static void check_gradient(const problem* p, const sequences* dout, double* values, size_t count,
                           const double* gradient, const char* name) {
  const double step = 1e-6;
  for (int i = 0; i < 4 && count > 0; ++i) {
    const size_t j = draw((uint32_t)count);
    const double old = values[j];
    values[j] = old + step;
    const long double above = product(p, dout);
    values[j] = old - step;
    const double expected = (double)((above - product(p, dout)) / (2 * (long double)step));
    values[j] = old;
    if (!(fabs(gradient[j] - expected) <= 1e-7 * (1 + fabs(expected)))) {
      fail_msg("the gradient of %s %zu is %g, not %g", name, j, gradient[j], expected);
    }
  }
}

static void check_case(void* handle) {
  problem p = make_problem(handle);
  double *residuals = managed(p.in[Q].count), *reserve = managed(p.reserve_bytes / 8 + 1);
  const double* const added = p.has_residuals ? residuals : NULL;
  int *lengths = lengths_of(&p.in[Q]), *key_lengths = lengths_of(&p.in[K]);
  double* const old = malloc(p.out.count * sizeof *old);
  memcpy(old, p.out.data, p.out.count * sizeof *old);
  const int step = between(0, p.in[Q].dims[0] - 1);
  assert_int_equal(forward(handle, &p, step, added, lengths, key_lengths, NULL), 0);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  check_results(&p, added, old, step);
  memcpy(p.out.data, old, p.out.count * sizeof *old);
  assert_int_equal(forward(handle, &p, -1, added, lengths, key_lengths, reserve), 0);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  check_results(&p, added, old, -1);

  sequences* const dout = &p.out; /* any values do as gradients */
  const size_t weights = p.weight_bytes / sizeof(double);
  double *grad[3], *dweights = managed(weights), before[512];
  for (int i = 0; i < 3; ++i) grad[i] = managed(p.in[i].count);
  memcpy(before, dweights, p.weight_bytes);
  assert_int_equal(cudnnMultiHeadAttnBackwardData(
                       handle, p.attention, p.first, p.end, lengths, key_lengths, dout->descriptor,
                       dout->data, p.in[Q].descriptor, grad[Q], p.in[Q].data, p.in[K].descriptor,
                       grad[K], p.in[K].data, p.in[V].descriptor, grad[V], p.in[V].data,
                       p.weight_bytes, p.weights, 0, NULL, p.reserve_bytes, reserve),
                   0);
  const int sets = between(0, 1);
  assert_int_equal(
      cudnnMultiHeadAttnBackwardWeights(handle, p.attention, sets, p.in[Q].descriptor, p.in[Q].data,
                                        p.in[K].descriptor, p.in[K].data, p.in[V].descriptor,
                                        p.in[V].data, dout->descriptor, dout->data, p.weight_bytes,
                                        p.weights, dweights, 0, NULL, p.reserve_bytes, reserve),
      0);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  for (size_t i = 0; i < weights && !sets; ++i) dweights[i] -= before[i];
  for (int i = 0; i < 3; ++i) {
    check_gradient(&p, dout, p.in[i].data, p.in[i].count, grad[i], "input");
    assert_int_equal(cudaFree(grad[i]), 0);
  }
  check_gradient(&p, dout, p.weights, weights, dweights, "weight");
  double* const all[] = {residuals, reserve, dweights};
  for (int i = 0; i < 3; ++i) assert_int_equal(cudaFree(all[i]), 0);
  assert_int_equal(cudaFree(lengths), 0);
  assert_int_equal(cudaFree(key_lengths), 0);
  free(old);
  free_problem(&p);
}
static void heads_attend_to_their_windows(void** state) {
  (void)state;
  void* handle = NULL;
  assert_int_equal(cudnnCreate(&handle), 0);
  for (int i = 0, count = case_count(200); i < count; ++i) {
    random_state = (uint64_t)i + 1;
    check_case(handle);
  }
  assert_int_equal(cudnnDestroy(handle), 0);
}

static void wrong_arguments_are_told(void** state) {
  (void)state;
  void* handle = NULL;
  assert_int_equal(cudnnCreate(&handle), 0);
  random_state = 7;
  problem p = make_problem(handle);
  int *lengths = lengths_of(&p.in[Q]), *key_lengths = lengths_of(&p.in[K]);
  assert_int_equal(forward(handle, &p, p.in[Q].dims[0], NULL, lengths, key_lengths, NULL),
                   BAD_PARAM);
  assert_int_equal(forward(handle, &p, -1, NULL, NULL, key_lengths, NULL), BAD_PARAM);
  problem wrong = p;
  wrong.weight_bytes = 0;
  if (p.weight_bytes > 0) {
    assert_int_equal(forward(handle, &wrong, -1, NULL, lengths, key_lengths, NULL), BAD_PARAM);
  }
  wrong = p;
  wrong.in[K].descriptor = p.attention;
  assert_int_equal(forward(handle, &wrong, -1, NULL, lengths, key_lengths, NULL), BAD_PARAM);
  const int dims[] = {2, 1, 1, 3}, wrong_axes[] = {3, 1, 2, 0}, long_step[] = {3};
  assert_int_equal(
      cudnnSetSeqDataDescriptor(p.out.descriptor, F64, 4, dims, wrong_axes, 1, lengths, NULL),
      NOT_SUPPORTED);
  assert_int_equal(
      cudnnSetSeqDataDescriptor(p.out.descriptor, F64, 4, dims, p.out.axes, 1, long_step, NULL),
      BAD_PARAM);
  assert_int_equal(cudaFree(lengths), 0);
  assert_int_equal(cudaFree(key_lengths), 0);
  free_problem(&p);
  assert_int_equal(cudnnDestroy(handle), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(heads_attend_to_their_windows),
      cmocka_unit_test(wrong_arguments_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
