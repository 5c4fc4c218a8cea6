/* Attention of cuDNN's graphs over ragged tensors and over caches in pages, loads of such caches,
 * and normalization of groups, against sums in double. CUDNN_CASES sets how many random cases of
 * each are tried. */
#include "cudnn_graph.h"

enum { SDPA_FWD = 41, PAGE_LOAD = 35, NORM_FORWARD = 29, NORM_BACKWARD = 30, NORM_MODE = 27 };
enum { NORM_PHASE = 28, GROUP_NORM = 3, TRAINING = 1, INFERENCE = 0, MOST_BATCHES = 3 };
enum { MOST_QUERIES = 5, MOST_KEYS = 12, MOST_WIDTH = 6, LONG = 10 /* CUDNN_DATA_INT64 */ };

static int cases(void) {
  const char* const text = getenv("CUDNN_CASES");
  return text != NULL ? atoi(text) : 150;
}

static void* managed(size_t size_bytes) {
  void* memory = NULL;
  assert_int_equal(cudaMallocManaged(&memory, size_bytes + 4, cudaMemAttachGlobal), 0);
  memset(memory, 0, size_bytes + 4);
  return memory;
}
static float* random_floats(size_t count) {
  float* const numbers = managed(count * sizeof(float));
  for (size_t i = 0; i < count; ++i) numbers[i] = (float)draw(2001) / 1000 - 1;
  return numbers;
}

/* The sizes of one attention and the lengths of its batches. */
typedef struct {
  int batches, heads, key_heads, queries, keys, width;
  int *query_lengths, *key_lengths;
} sizes;

static sizes random_sizes(void) {
  sizes s = {between(1, MOST_BATCHES), 1 << draw(3),           1,    between(1, MOST_QUERIES),
             between(1, MOST_KEYS),    between(1, MOST_WIDTH), NULL, NULL};
  while (s.key_heads < s.heads && draw(2)) s.key_heads *= 2;
  s.query_lengths = managed(MOST_BATCHES * sizeof(int));
  s.key_lengths = managed(MOST_BATCHES * sizeof(int));
  for (int b = 0; b < s.batches; ++b) {
    s.query_lengths[b] = between(0, s.queries);
    s.key_lengths[b] = between(1, s.keys);
  }
  return s;
}
static void free_sizes(sizes s) { cudaFree(s.query_lengths), cudaFree(s.key_lengths); }

typedef double at_function(const void* of, int b, int h, int s, int d);

/* One element of the result, by sums in double. */
static double attend(sizes s, double scale, int b, int h, int i, int d, at_function at,
                     const void* q, const void* k, const void* v) {
  double scores[MOST_KEYS], most = -INFINITY, sum = 0, result = 0;
  const int key_head = h / (s.heads / s.key_heads);
  for (int j = 0; j < s.key_lengths[b]; ++j) {
    scores[j] = 0;
    for (int e = 0; e < s.width; ++e) scores[j] += at(q, b, h, i, e) * at(k, b, key_head, j, e);
    scores[j] *= scale;
    most = fmax(most, scores[j]);
  }
  for (int j = 0; j < s.key_lengths[b]; ++j) sum += exp(scores[j] - most);
  for (int j = 0; j < s.key_lengths[b]; ++j) {
    result += exp(scores[j] - most) / sum * at(v, b, key_head, j, d);
  }
  return result;
}

static void* describe_four(int64_t id, int type, int64_t a, int64_t b, int64_t c, int64_t d) {
  const int64_t dims[] = {a, b, c, d}, strides[] = {b * c * d, c * d, d, 1};
  return describe_tensor(id, type, 4, dims, strides, 0);
}

/* A tensor whose batches lie one behind the other, tokens after tokens. */
typedef struct {
  float* data;
  int64_t* offsets; /* in units of `unit` elements */
  int64_t unit, count;
  int heads, width;
} ragged;

static ragged make_ragged(sizes s, int heads, const int* lengths) {
  ragged r = {NULL, managed((MOST_BATCHES + 1) * sizeof(int64_t)), 1, 0, heads, s.width};
  const int64_t token = (int64_t)heads * s.width;
  if (draw(2)) r.unit = token;
  for (int b = 0; b < s.batches; ++b) {
    r.offsets[b] = r.count / r.unit;
    r.count += lengths[b] * token;
  }
  r.offsets[s.batches] = r.count / r.unit;
  r.data = random_floats((size_t)r.count + 1);
  return r;
}
static void free_ragged(ragged r) { cudaFree(r.data), cudaFree(r.offsets); }
static size_t place_of(const ragged* r, int b, int h, int s, int d) {
  return (size_t)(r->offsets[b] * r->unit + ((int64_t)s * r->heads + h) * r->width + d);
}
static double ragged_at(const void* of, int b, int h, int s, int d) {
  const ragged* const r = of;
  return (double)r->data[place_of(r, b, h, s, d)];
}

static void* describe_ragged(int64_t id, int64_t offsets_id, sizes s, int positions, ragged r) {
  const int64_t dims[] = {s.batches, r.heads, positions, r.width};
  const int64_t strides[] = {(int64_t)positions * r.heads * r.width, r.width,
                             (int64_t)r.heads * r.width, 1};
  void* const offsets = describe_four(offsets_id, LONG, s.batches + 1, 1, 1, 1);
  void* const tensor_descriptor = create(TENSOR);
  const int type = F32;
  const int64_t alignment = 4;
  set(tensor_descriptor, 906, INT64, 1, &id);
  set(tensor_descriptor, 901, DATA_TYPE, 1, &type);
  set(tensor_descriptor, 902, INT64, 4, dims);
  set(tensor_descriptor, 903, INT64, 4, strides);
  set(tensor_descriptor, 900, INT64, 1, &alignment);
  set_descriptor(tensor_descriptor, 913, offsets);
  set(tensor_descriptor, 914, INT64, 1, &r.unit);
  return finished(tensor_descriptor);
}

static void execute(void* handle, void* operation, int64_t count, const int64_t* ids,
                    void** pointers) {
  void* const plan = plan_for(handle, 1, &operation);
  assert_int_equal(cudnnBackendExecute(handle, plan, pack_of(count, ids, pointers)), 0);
  assert_int_equal(cudaDeviceSynchronize(), 0);
}

static void expect_near(double value, double expected) {
  if (!(fabs(value - expected) <= 2e-5 * (1 + fabs(expected)))) {
    fail_msg("%g, not %g", value, expected);
  }
}

static void attention_over_ragged_tensors(void** state) {
  (void)state;
  void* handle = NULL;
  float* const scale = managed(sizeof(float));
  assert_int_equal(cudnnCreate(&handle), 0);
  for (int round = 0; round < cases(); ++round) {
    random_state = (uint64_t)round + 1;
    const sizes s = random_sizes();
    ragged q = make_ragged(s, s.heads, s.query_lengths);
    ragged k = make_ragged(s, s.key_heads, s.key_lengths);
    ragged v = make_ragged(s, s.key_heads, s.key_lengths);
    ragged o = make_ragged(s, s.heads, s.query_lengths);
    const float behind = o.data[o.count]; /* of no batch */
    *scale = 0.5F;
    void* const operation = create(SDPA_FWD);
    set_descriptor(operation, 2800, describe_ragged(1, 11, s, s.queries, q));
    set_descriptor(operation, 2801, describe_ragged(2, 12, s, s.keys, k));
    set_descriptor(operation, 2802, describe_ragged(3, 13, s, s.keys, v));
    set_descriptor(operation, 2803, describe_ragged(4, 14, s, s.queries, o));
    set_descriptor(operation, 2805, describe_four(5, F32, 1, 1, 1, 1));
    set_descriptor(operation, 2809, describe_four(6, INT32, s.batches, 1, 1, 1));
    set_descriptor(operation, 2810, describe_four(7, INT32, s.batches, 1, 1, 1));
    const int64_t ids[] = {1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 14};
    void* pointers[] = {q.data,        k.data,    v.data,    o.data,    scale,    s.query_lengths,
                        s.key_lengths, q.offsets, k.offsets, v.offsets, o.offsets};
    execute(handle, finished(operation), 11, ids, pointers);
    for (int b = 0; b < s.batches; ++b) {
      for (int i = 0; i < s.query_lengths[b] * s.heads * s.width; ++i) {
        const int d = i % s.width, h = i / s.width % s.heads, at = i / s.width / s.heads;
        expect_near(ragged_at(&o, b, h, at, d), attend(s, 0.5, b, h, at, d, ragged_at, &q, &k, &v));
      }
    }
    assert_true(o.data[o.count] == behind);
    destroy_all();
    free_ragged(q), free_ragged(k), free_ragged(v), free_ragged(o);
    free_sizes(s);
  }
  cudaFree(scale);
  assert_int_equal(cudnnDestroy(handle), 0);
}

/* A cache in pages. */
typedef struct {
  float* data;
  int* table;
  int pages, in_page, heads, width, of_batch;
} paged;

static paged make_paged(sizes s, int in_page) {
  paged p = {NULL, NULL, 0, in_page, s.key_heads, s.width, (s.keys + in_page - 1) / in_page};
  p.pages = s.batches * p.of_batch + between(0, 3);
  p.data = random_floats((size_t)(p.pages * p.heads * p.in_page * p.width));
  p.table = managed((size_t)(s.batches * p.of_batch) * sizeof(int));
  for (int i = 0; i < s.batches * p.of_batch; ++i) p.table[i] = (int)draw((uint32_t)p.pages);
  return p;
}
static void free_paged(paged p) { cudaFree(p.data), cudaFree(p.table); }
static double paged_at(const void* of, int b, int h, int s, int d) {
  const paged* const p = of;
  const int page = p->table[b * p->of_batch + s / p->in_page];
  return (double)p->data[((page * p->heads + h) * p->in_page + s % p->in_page) * p->width + d];
}
static void* describe_pages(int64_t id, paged p) {
  return describe_four(id, F32, p.pages, p.heads, p.in_page, p.width);
}
static void* describe_table(int64_t id, sizes s, paged p) {
  return describe_four(id, INT32, s.batches, 1, p.of_batch, 1);
}

typedef struct {
  const float* data;
  sizes s;
} dense;
static const dense* g_queries;
static double any_at(const void* of, int b, int h, int s, int d) {
  if (of != g_queries) return paged_at(of, b, h, s, d);
  const sizes* const z = &g_queries->s;
  return (double)g_queries->data[((b * z->heads + h) * z->queries + s) * z->width + d];
}

static void attention_over_pages(void** state) {
  (void)state;
  void* handle = NULL;
  float* const scale = managed(sizeof(float));
  assert_int_equal(cudnnCreate(&handle), 0);
  for (int round = 0; round < cases(); ++round) {
    random_state = (uint64_t)round + 1;
    const sizes s = random_sizes();
    const int in_page = between(1, 4);
    const paged k = make_paged(s, in_page), v = make_paged(s, in_page);
    const size_t count = (size_t)(s.batches * s.heads * s.queries * s.width);
    float *const q = random_floats(count), *const o = random_floats(count);
    const dense queries = {q, s};
    g_queries = &queries;
    *scale = 0.25F;
    void* const operation = create(SDPA_FWD);
    set_descriptor(operation, 2800, describe_four(1, F32, s.batches, s.heads, s.queries, s.width));
    set_descriptor(operation, 2801, describe_pages(2, k));
    set_descriptor(operation, 2802, describe_pages(3, v));
    set_descriptor(operation, 2803, describe_four(4, F32, s.batches, s.heads, s.queries, s.width));
    set_descriptor(operation, 2805, describe_four(5, F32, 1, 1, 1, 1));
    set_descriptor(operation, 2807, describe_table(8, s, k));
    set_descriptor(operation, 2808, describe_table(9, s, v));
    set_descriptor(operation, 2810, describe_four(7, INT32, s.batches, 1, 1, 1));
    const int64_t ids[] = {1, 2, 3, 4, 5, 7, 8, 9};
    void* pointers[] = {q, k.data, v.data, o, scale, s.key_lengths, k.table, v.table};
    execute(handle, finished(operation), 8, ids, pointers);
    for (size_t i = 0; i < count; ++i) {
      const int n = (int)i, d = n % s.width, at = n / s.width % s.queries;
      const int h = n / s.width / s.queries % s.heads, b = n / s.width / s.queries / s.heads;
      expect_near((double)o[i], attend(s, 0.25, b, h, at, d, any_at, &queries, &k, &v));
    }
    destroy_all();
    free_paged(k), free_paged(v);
    cudaFree(q), cudaFree(o);
    free_sizes(s);
  }
  cudaFree(scale);
  assert_int_equal(cudnnDestroy(handle), 0);
}

/* Keys come with positions last, values with elements last; behind a length both are zeros. */
static void pages_are_loaded_either_way(void** state) {
  (void)state;
  void* handle = NULL;
  assert_int_equal(cudnnCreate(&handle), 0);
  for (int round = 0; round < cases(); ++round) {
    random_state = (uint64_t)round + 1;
    const sizes s = random_sizes();
    const paged p = make_paged(s, between(1, 4));
    const int is_turned = (int)draw(2);
    const int64_t keys = s.keys, width = s.width, heads = s.key_heads;
    const int64_t dims[] = {s.batches, heads, is_turned ? width : keys, is_turned ? keys : width};
    const int64_t strides[] = {heads * keys * width, keys * width, is_turned ? 1 : width,
                               is_turned ? width : 1};
    float* const y = random_floats((size_t)(s.batches * heads * keys * width));
    void* const operation = create(PAGE_LOAD);
    set_descriptor(operation, 1950, describe_pages(1, p));
    set_descriptor(operation, 1951, describe_tensor(2, F32, 4, dims, strides, 0));
    set_descriptor(operation, 1952, describe_four(3, INT32, s.batches, 1, 1, 1));
    set_descriptor(operation, 1953, describe_table(4, s, p));
    const int64_t ids[] = {1, 2, 3, 4};
    void* pointers[] = {p.data, y, s.key_lengths, p.table};
    execute(handle, finished(operation), 4, ids, pointers);
    for (int i = 0; i < s.batches * s.key_heads * s.keys * s.width; ++i) {
      const int d = i % s.width, at = i / s.width % s.keys, b = i / s.width / s.keys / s.key_heads;
      const int h = i / s.width / s.keys % s.key_heads;
      const double expected = at < s.key_lengths[b] ? paged_at(&p, b, h, at, d) : 0;
      assert_true((double)y[i] == expected);
    }
    destroy_all();
    free_paged(p);
    cudaFree(y);
    free_sizes(s);
  }
  assert_int_equal(cudnnDestroy(handle), 0);
}

/* Group g of batch n: its mean and the inverse of its deviation. */
static void find_statistics(const tensor* x, int groups, int n, int g, double* mean,
                            double* inverse) {
  const int channels = x->dims[1] / groups, planes = x->dims[2] * x->dims[3];
  double sum = 0, squares = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < channels * planes; ++i) {
      const int at[] = {n, g * channels + i / planes, i % planes / x->dims[3], i % x->dims[3]};
      const double value = get(x, at);
      if (pass == 0) sum += value;
      if (pass == 1) squares += (value - *mean) * (value - *mean);
    }
    *mean = sum / (channels * planes);
  }
  *inverse = 1 / sqrt(squares / (channels * planes) + 1e-5);
}

static void* describe_any(int64_t id, const tensor* t) {
  int64_t dims[4], strides[4];
  for (int i = 0; i < 4; ++i) {
    dims[i] = t->dims[i];
    strides[i] = t->strides[i];
  }
  return describe_tensor(id, t->type, 4, dims, strides, 0);
}

static void* norm_of(int phase, tensor* const* tensors) {
  static const int kNames[] = {2002, 2013, 2005, 2006, 2003, 2004};
  void* const operation = create(NORM_FORWARD);
  const int mode = GROUP_NORM;
  set(operation, 2000, NORM_MODE, 1, &mode);
  set(operation, 2001, NORM_PHASE, 1, &phase);
  for (int i = 0; i < 6; ++i) {
    if (tensors[i] != NULL) {
      set_descriptor(operation, kNames[i], describe_any(i + 1, tensors[i]));
    }
  }
  return finished(operation);
}

static void* norm_gradient_of(tensor* const* tensors) {
  static const int kNames[] = {2101, 2104, 2109, 2105, 2107, 2108, 2102, 2103};
  void* const operation = create(NORM_BACKWARD);
  const int mode = GROUP_NORM;
  set(operation, 2100, NORM_MODE, 1, &mode);
  for (int i = 0; i < 8; ++i) set_descriptor(operation, kNames[i], describe_any(i + 1, tensors[i]));
  return finished(operation);
}

static void run_norm(void* handle, void* operation, tensor* const* tensors, int count) {
  int64_t ids[8];
  void* pointers[8];
  for (int i = 0; i < count; ++i) {
    ids[i] = i + 1;
    pointers[i] = tensors[i]->data;
  }
  execute(handle, operation, count, ids, pointers);
}

typedef struct {
  const tensor *x, *scale, *dy, *dx;
  double scales[16], biases[16];
} gradients;

/* The gradient of x in one group, by the usual formula; adds to those of scale and bias. */
static void expect_group(gradients* of, int groups, int n, int g) {
  const tensor* const x = of->x;
  const int channels = x->dims[1] / groups, planes = x->dims[2] * x->dims[3];
  double mean = 0, inverse = 0, sum = 0, product = 0;
  find_statistics(x, groups, n, g, &mean, &inverse);
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < channels * planes; ++i) {
      const int c = g * channels + i / planes;
      const int at[] = {n, c, i % planes / x->dims[3], i % x->dims[3]};
      const double normal = (get(x, at) - mean) * inverse, d = get(of->dy, at);
      const double scaled = d * get_nth(of->scale, (size_t)c);
      if (pass == 0) {
        sum += scaled, product += scaled * normal;
        of->scales[c] += d * normal, of->biases[c] += d;
      } else {
        const double share = (sum + normal * product) / (channels * planes);
        expect_near(get(of->dx, at), inverse * (scaled - share));
      }
    }
  }
}

static void expect_gradients(int groups, const tensor* x, const tensor* scale, const tensor* dy,
                             const tensor* dx, const tensor* dscale, const tensor* dbias) {
  gradients of = {x, scale, dy, dx, {0}, {0}};
  for (int i = 0; i < x->dims[0] * groups; ++i) expect_group(&of, groups, i / groups, i % groups);
  for (int c = 0; c < x->dims[1]; ++c) {
    expect_near(get_nth(dscale, (size_t)c), of.scales[c]);
    expect_near(get_nth(dbias, (size_t)c), of.biases[c]);
  }
}

static void groups_are_normalized(void** state) {
  (void)state;
  void* handle = NULL;
  assert_int_equal(cudnnCreate(&handle), 0);
  for (int round = 0; round < cases(); ++round) {
    random_state = (uint64_t)round + 1;
    const int groups = between(1, 4), of_group = between(1, 3), layout = between(0, 2);
    const int dims[] = {between(1, 3), groups * of_group, between(1, 4), between(2, 4)};
    const int parameters[] = {1, dims[1], 1, 1}, rows[] = {dims[0], groups, 1, 1};
    tensor x = make_tensor(F32, 4, dims, layout), y = make_tensor(F32, 4, dims, layout);
    tensor again = make_tensor(F32, 4, dims, 0), dx = make_tensor(F32, 4, dims, 0);
    tensor dy = make_tensor(F32, 4, dims, layout);
    tensor scale = make_tensor(F32, 4, parameters, 0), bias = make_tensor(F32, 4, parameters, 0);
    tensor dscale = make_tensor(F32, 4, parameters, 0), dbias = make_tensor(F32, 4, parameters, 0);
    tensor mean = make_tensor(F32, 4, rows, 0), inverse = make_tensor(F32, 4, rows, 0);
    tensor* forward[] = {&x, &y, &scale, &bias, &mean, &inverse};
    run_norm(handle, norm_of(TRAINING, forward), forward, 6);
    for (size_t i = 0; i < x.count; ++i) {
      int at[MOST] = {0};
      double own_mean = 0, own_inverse = 0;
      position_of(&x, i, at);
      const int g = at[1] / of_group;
      find_statistics(&x, groups, at[0], g, &own_mean, &own_inverse);
      const size_t row = (size_t)(at[0] * groups + g), c = (size_t)at[1];
      expect_near(get_nth(&mean, row), own_mean);
      if (own_inverse < 50) {
        expect_near(get_nth(&inverse, row) / own_inverse, 1);
        expect_near(get(&y, at), (get(&x, at) - own_mean) * own_inverse * get_nth(&scale, c) +
                                     get_nth(&bias, c));
      }
    }
    forward[1] = &again;
    run_norm(handle, norm_of(INFERENCE, forward), forward, 6);
    for (size_t i = 0; i < x.count; ++i) expect_near(get_nth(&again, i), get_nth(&y, i));
    tensor* backward[] = {&x, &dy, &dx, &scale, &dscale, &dbias, &mean, &inverse};
    run_norm(handle, norm_gradient_of(backward), backward, 8);
    expect_gradients(groups, &x, &scale, &dy, &dx, &dscale, &dbias);
    destroy_all();
    tensor* const all[] = {&x,    &y,      &again, &dx,   &dy,     &scale,
                           &bias, &dscale, &dbias, &mean, &inverse};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) free_tensor(all[i]);
  }
  assert_int_equal(cudnnDestroy(handle), 0);
}

static void expect_refused(void* operation, int status) {
  void *const graph = create(GRAPH), *const engine = create(ENGINE);
  const int64_t index = 0;
  set(graph, 801, DESCRIPTOR, 1, &operation);
  set_descriptor(engine, 1300, finished(graph));
  set(engine, 1301, INT64, 1, &index);
  assert_int_equal(cudnnBackendFinalize(engine), status);
}

static void wrong_tensors_are_refused(void** state) {
  (void)state;
  const int dims[] = {2, 6, 2, 2}, parameters[] = {1, 6, 1, 1}, rows[] = {2, 4, 1, 1};
  tensor x = make_tensor(F32, 4, dims, 0), scale = make_tensor(F32, 4, parameters, 0);
  tensor mean = make_tensor(F32, 4, rows, 0);
  tensor* uneven[] = {&x, &x, &scale, &scale, &mean, &mean}; /* 6 channels, 4 groups */
  expect_refused(norm_of(TRAINING, uneven), NOT_SUPPORTED);
  tensor* unknown[] = {&x, &x, &scale, &scale, NULL, NULL}; /* nothing tells the groups */
  expect_refused(norm_of(TRAINING, unknown), NOT_SUPPORTED);
  void* const load = create(PAGE_LOAD);
  set_descriptor(load, 1950, describe_four(1, F32, 4, 2, 2, 3));
  set_descriptor(load, 1951, describe_four(2, F32, 2, 2, 4, 5)); /* 5 elements for 3 */
  set_descriptor(load, 1953, describe_four(4, INT32, 2, 1, 2, 1));
  expect_refused(finished(load), NOT_SUPPORTED);
  destroy_all();
  free_tensor(&x), free_tensor(&scale), free_tensor(&mean);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(attention_over_ragged_tensors), cmocka_unit_test(attention_over_pages),
      cmocka_unit_test(pages_are_loaded_either_way),   cmocka_unit_test(groups_are_normalized),
      cmocka_unit_test(wrong_tensors_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
