/* Layers of cuDNN beside convolutions against plain loops in double. */
#include "cudnn_support.h"

int cudnnActivationForward(void*, void*, const void*, void*, const void*, const void*, void*,
                           void*);
int cudnnActivationBackward(void*, void*, const void*, void*, const void*, void*, const void*,
                            void*, const void*, const void*, void*, void*);
int cudnnAddTensor(void*, const void*, void*, const void*, const void*, void*, void*);
int cudnnBatchNormalizationBackward(void*, int, const void*, const void*, const void*, const void*,
                                    void*, const void*, void*, const void*, void*, void*, void*,
                                    const void*, void*, void*, double, const void*, const void*);
int cudnnBatchNormalizationForwardInference(void*, int, const void*, const void*, void*,
                                            const void*, void*, void*, void*, const void*,
                                            const void*, const void*, const void*, double);
int cudnnBatchNormalizationForwardTraining(void*, int, const void*, const void*, void*, const void*,
                                           void*, void*, void*, const void*, const void*, double,
                                           void*, void*, double, void*, void*);
int cudnnCreateActivationDescriptor(void**);
int cudnnSetActivationDescriptor(void*, int, int, double);
int cudnnDestroyActivationDescriptor(void*);
int cudnnCreateDropoutDescriptor(void**);
int cudnnSetDropoutDescriptor(void*, void*, float, void*, size_t, unsigned long long);
int cudnnDropoutGetStatesSize(void*, size_t*);
int cudnnDropoutGetReserveSpaceSize(void*, size_t*);
int cudnnDropoutForward(void*, void*, void*, const void*, void*, void*, void*, size_t);
int cudnnDropoutBackward(void*, void*, void*, const void*, void*, void*, void*, size_t);
int cudnnDestroyDropoutDescriptor(void*);
int cudnnDivisiveNormalizationForward(void*, void*, int, const void*, void*, const void*,
                                      const void*, void*, void*, const void*, void*, void*);
int cudnnDivisiveNormalizationBackward(void*, void*, int, const void*, void*, const void*,
                                       const void*, const void*, void*, void*, const void*, void*,
                                       void*, void*);
int cudnnCreateLRNDescriptor(void**);
int cudnnSetLRNDescriptor(void*, unsigned, double, double, double);
int cudnnLRNCrossChannelForward(void*, void*, int, const void*, void*, const void*, const void*,
                                void*, void*);
int cudnnDestroyLRNDescriptor(void*);
int cudnnCreateOpTensorDescriptor(void**);
int cudnnSetOpTensorDescriptor(void*, int, int, int);
int cudnnOpTensor(void*, void*, const void*, void*, const void*, const void*, void*, const void*,
                  const void*, void*, void*);
int cudnnDestroyOpTensorDescriptor(void*);
int cudnnCreatePoolingDescriptor(void**);
int cudnnSetPoolingNdDescriptor(void*, int, int, int, const int*, const int*, const int*);
int cudnnGetPoolingNdForwardOutputDim(void*, void*, int, int*);
int cudnnPoolingForward(void*, void*, const void*, void*, const void*, const void*, void*, void*);
int cudnnPoolingBackward(void*, void*, const void*, void*, const void*, void*, const void*, void*,
                         const void*, const void*, void*, void*);
int cudnnDestroyPoolingDescriptor(void*);
int cudnnCreateReduceTensorDescriptor(void**);
int cudnnSetReduceTensorDescriptor(void*, int, int, int, int, int);
int cudnnReduceTensor(void*, void*, void*, size_t, void*, size_t, const void*, void*, const void*,
                      const void*, void*, void*);
int cudnnDestroyReduceTensorDescriptor(void*);
int cudnnScaleTensor(void*, void*, void*, const void*);
int cudnnSetTensor(void*, void*, void*, const void*);
int cudnnSoftmaxForward(void*, int, int, const void*, void*, const void*, const void*, void*,
                        void*);
int cudnnSoftmaxBackward(void*, int, int, const void*, void*, const void*, void*, const void*,
                         const void*, void*, void*);
int cudnnTransformTensor(void*, const void*, void*, const void*, const void*, void*, void*);

static const int kFloats[] = {F32, F64, F16, BF16};
static void* handle;

static int start(void** state) {
  (void)state;
  return cudnnCreate(&handle);
}
static int end(void** state) {
  (void)state;
  return cudnnDestroy(handle);
}
static void wait(void) { assert_int_equal(cudaDeviceSynchronize(), 0); }

static tensor random_tensor(int type, const int* dims, int rank) {
  return make_tensor(type, rank, dims, between(0, 2));
}
static void random_dims(int* dims) {
  dims[0] = between(1, 3);
  dims[1] = between(1, 6);
  dims[2] = between(1, 9);
  dims[3] = between(1, 9);
}

static double activation_of(int mode, double x) {
  switch (mode) {
    case 0:
      return 1 / (1 + exp(-x));
    case 1:
      return fmax(x, 0);
    case 2:
      return tanh(x);
    case 3:
      return fmin(fmax(x, 0), 1.25);
    default:
      return x > 0 ? x : 1.25 * (exp(x) - 1);
  }
}
static double slope_of(int mode, double x) {
  const double y = activation_of(mode, x);
  switch (mode) {
    case 0:
      return y * (1 - y);
    case 1:
      return x > 0;
    case 2:
      return 1 - y * y;
    case 3:
      return x > 0 && x < 1.25;
    default:
      return x > 0 ? 1 : 1.25 * exp(x);
  }
}

static void activations_and_their_gradients(void** state) {
  (void)state;
  const int count = case_count(40);
  for (int i = 0; i < count; ++i) {
    random_state = (uint64_t)i + 11;
    const int type = kFloats[i % 4], mode = i / 4 % 5;
    int dims[4];
    random_dims(dims);
    tensor x = random_tensor(type, dims, 4), y = random_tensor(type, dims, 4);
    tensor dy = random_tensor(type, dims, 4), dx = random_tensor(type, dims, 4);
    scalars s;
    set_scalars(&s, type, 0.5, i % 3 == 0 ? 2 : 0);
    void* activation = NULL;
    assert_int_equal(cudnnCreateActivationDescriptor(&activation), 0);
    assert_int_equal(cudnnSetActivationDescriptor(activation, mode, 1, 1.25), 0);
    double* const old = values_of(&y);
    for (size_t j = 0; j < y.count; ++j) {
      old[j] = 0.5 * activation_of(mode, get_nth(&x, j)) + (s.d[1] != 0 ? s.d[1] * old[j] : 0);
    }
    assert_int_equal(cudnnActivationForward(handle, activation, s.alpha, x.descriptor, x.data,
                                            s.beta, y.descriptor, y.data),
                     0);
    wait();
    expect_values(&y, old, 1);
    set_scalars(&s, type, 1, 0);
    for (size_t j = 0; j < y.count; ++j) {
      set_nth(&y, j, activation_of(mode, get_nth(&x, j)));
      old[j] = get_nth(&dy, j) * slope_of(mode, get_nth(&x, j));
    }
    assert_int_equal(
        cudnnActivationBackward(handle, activation, s.alpha, y.descriptor, y.data, dy.descriptor,
                                dy.data, x.descriptor, x.data, s.beta, dx.descriptor, dx.data),
        0);
    wait();
    expect_values(&dx, old, 4);
    free(old);
    assert_int_equal(cudnnDestroyActivationDescriptor(activation), 0);
    free_tensor(&x);
    free_tensor(&y);
    free_tensor(&dy);
    free_tensor(&dx);
  }
}

static void softmax_sums_to_one(void** state) {
  (void)state;
  const int count = case_count(40);
  for (int i = 0; i < count; ++i) {
    random_state = (uint64_t)i + 21;
    const int type = kFloats[i % 4], mode = i / 4 % 2, is_log = i / 8 % 2;
    int dims[4];
    random_dims(dims);
    tensor x = random_tensor(type, dims, 4), y = random_tensor(type, dims, 4);
    tensor dy = random_tensor(type, dims, 4), dx = random_tensor(type, dims, 4);
    scalars s;
    set_scalars(&s, type, 1, 0);
    const size_t plane = (size_t)dims[2] * (size_t)dims[3], image = plane * (size_t)dims[1];
    double *const expected = calloc(x.count, sizeof(double)), *const back = calloc(x.count, 8);
    for (size_t j = 0; j < x.count; ++j) {
      const size_t first = j / image * image + (mode ? j % plane : 0);
      double sum = 0;
      for (size_t k = first; k < j / image * image + image; k += mode ? plane : 1) {
        sum += exp(get_nth(&x, k));
      }
      expected[j] = is_log ? get_nth(&x, j) - log(sum) : exp(get_nth(&x, j)) / sum;
    }
    assert_int_equal(cudnnSoftmaxForward(handle, is_log ? 2 : 1, mode, s.alpha, x.descriptor,
                                         x.data, s.beta, y.descriptor, y.data),
                     0);
    wait();
    expect_values(&y, expected, 1);
    for (size_t j = 0; j < x.count; ++j) {
      const size_t first = j / image * image + (mode ? j % plane : 0);
      double sum = 0;
      for (size_t k = first; k < j / image * image + image; k += mode ? plane : 1) {
        sum += get_nth(&dy, k) * (is_log ? 1 : get_nth(&y, k));
      }
      const double value = get_nth(&y, j), gradient = get_nth(&dy, j);
      back[j] = is_log ? gradient - exp(value) * sum : value * (gradient - sum);
    }
    assert_int_equal(
        cudnnSoftmaxBackward(handle, is_log ? 2 : 1, mode, s.alpha, y.descriptor, y.data,
                             dy.descriptor, dy.data, s.beta, dx.descriptor, dx.data),
        0);
    wait();
    expect_values(&dx, back, 4);
    free(expected);
    free(back);
    free_tensor(&x);
    free_tensor(&y);
    free_tensor(&dy);
    free_tensor(&dx);
  }
}

/* The elements of a window; `visit` gets the offset of each in x, or -1 for padding. */
static void pool_one(const tensor* x, const int* out, const int* window, const int* pads,
                     const int* steps, int mode, const double* gradient, double* result) {
  double most = -INFINITY, sum = 0;
  int inside = 0;
  size_t found = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < window[0] * window[1]; ++i) {
      const int at[4] = {out[0], out[1], out[2] * steps[0] - pads[0] + i / window[1],
                         out[3] * steps[1] - pads[1] + i % window[1]};
      if (at[2] < 0 || at[2] >= x->dims[2] || at[3] < 0 || at[3] >= x->dims[3]) continue;
      const size_t index =
          (((size_t)at[0] * (size_t)x->dims[1] + (size_t)at[1]) * (size_t)x->dims[2] +
           (size_t)at[2]) *
              (size_t)x->dims[3] +
          (size_t)at[3];
      if (pass == 1) {
        const int divisor = mode == 1 ? window[0] * window[1] : inside;
        if (mode != 0 && gradient != NULL) result[index] += *gradient / divisor;
        continue;
      }
      ++inside;
      sum += get(x, at);
      if (get(x, at) > most) {
        most = get(x, at);
        found = index;
      }
    }
  }
  if (gradient == NULL) {
    *result = mode == 0 ? most : sum / (mode == 1 ? window[0] * window[1] : inside);
  } else if (mode == 0) {
    result[found] += *gradient;
  }
}

static void pooling_over_windows(void** state) {
  (void)state;
  const int count = case_count(60);
  for (int i = 0; i < count; ++i) {
    random_state = (uint64_t)i + 31;
    const int type = kFloats[i % 4], mode = i / 4 % 3;
    int dims[4], out[4], window[2], pads[2], steps[2];
    random_dims(dims);
    for (int d = 0; d < 2; ++d) {
      window[d] = between(1, dims[d + 2]);
      pads[d] = between(0, (window[d] - 1) / 2);
      steps[d] = between(1, 3);
    }
    void* pooling = NULL;
    tensor x = random_tensor(type, dims, 4);
    assert_int_equal(cudnnCreatePoolingDescriptor(&pooling), 0);
    assert_int_equal(cudnnSetPoolingNdDescriptor(pooling, mode, 1, 2, window, pads, steps), 0);
    assert_int_equal(cudnnGetPoolingNdForwardOutputDim(pooling, x.descriptor, 4, out), 0);
    tensor y = random_tensor(type, out, 4), dy = random_tensor(type, out, 4);
    tensor dx = random_tensor(type, dims, 4);
    scalars s;
    set_scalars(&s, type, 1, 0);
    double *const expected = calloc(y.count, 8), *const back = calloc(x.count, 8);
    for (size_t j = 0; j < y.count; ++j) {
      int at[MOST] = {0};
      position_of(&y, j, at);
      const double gradient = get_nth(&dy, j);
      pool_one(&x, at, window, pads, steps, mode, NULL, expected + j);
      pool_one(&x, at, window, pads, steps, mode, &gradient, back);
    }
    assert_int_equal(cudnnPoolingForward(handle, pooling, s.alpha, x.descriptor, x.data, s.beta,
                                         y.descriptor, y.data),
                     0);
    wait();
    expect_values(&y, expected, 1);
    assert_int_equal(
        cudnnPoolingBackward(handle, pooling, s.alpha, y.descriptor, y.data, dy.descriptor, dy.data,
                             x.descriptor, x.data, s.beta, dx.descriptor, dx.data),
        0);
    wait();
    expect_values(&dx, back, 8);
    free(expected);
    free(back);
    assert_int_equal(cudnnDestroyPoolingDescriptor(pooling), 0);
    free_tensor(&x);
    free_tensor(&y);
    free_tensor(&dy);
    free_tensor(&dx);
  }
}

/* The mean and the biased variance of the elements that share a parameter. */
static void measure(const tensor* x, const tensor* shared, size_t group, double* mean,
                    double* variance, size_t* size) {
  for (int pass = 0; pass < 2; ++pass) {
    double sum = 0;
    *size = 0;
    for (size_t i = 0; i < x->count; ++i) {
      int at[MOST] = {0};
      position_of(x, i, at);
      size_t own = 0;
      for (int d = 0; d < 4; ++d) {
        own = own * (size_t)shared->dims[d] + (size_t)(shared->dims[d] == 1 ? 0 : at[d]);
      }
      if (own != group) continue;
      const double value = get_nth(x, i);
      sum += pass == 0 ? value : (value - *mean) * (value - *mean);
      ++*size;
    }
    *(pass == 0 ? mean : variance) = sum / (double)*size;
  }
}

/* The outputs and gradients of a batch normalization; `sums` gets the gradients of the scales and
   then those of the biases. */
static void normalize_plainly(const tensor* x, const tensor* dy, const tensor* parts,
                              int is_spatial, size_t size, const double* means,
                              const double* deviations, double* expected, double* back,
                              double* sums) {
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t j = 0; j < x->count; ++j) {
      int at[MOST] = {0};
      position_of(x, j, at);
      const int spot[MOST] = {0, at[1], is_spatial ? 0 : at[2], is_spatial ? 0 : at[3]};
      const size_t g =
          is_spatial ? (size_t)at[1]
                     : ((size_t)at[1] * (size_t)x->dims[2] + (size_t)at[2]) * (size_t)x->dims[3] +
                           (size_t)at[3];
      const double scale = get(&parts[0], spot), n = (double)size;
      const double normal = (get_nth(x, j) - means[g]) * deviations[g];
      const double gradient = get_nth(dy, j);
      if (pass == 0) {
        expected[j] = normal * scale + get(&parts[1], spot);
        sums[g] += gradient * normal;
        sums[g + parts[0].count] += gradient;
      } else {
        back[j] = scale * deviations[g] *
                  (gradient - sums[g + parts[0].count] / n - normal * sums[g] / n);
      }
    }
  }
}

static void batch_normalization(void** state) {
  (void)state;
  const int count = case_count(24);
  for (int i = 0; i < count; ++i) {
    random_state = (uint64_t)i + 41;
    const int type = i % 3 == 0 ? F64 : i % 3 == 1 ? F32 : F16, is_spatial = i / 3 % 2;
    int dims[4];
    random_dims(dims);
    dims[0] += 1;
    const int shared[] = {1, dims[1], is_spatial ? 1 : dims[2], is_spatial ? 1 : dims[3]};
    const int parameter_type = type == F64 ? F64 : F32;
    tensor x = random_tensor(type, dims, 4), y = random_tensor(type, dims, 4);
    tensor dy = random_tensor(type, dims, 4), dx = random_tensor(type, dims, 4);
    tensor
        parts[8]; /* scale, bias, running mean and variance, saved mean and deviation, gradients */
    for (int j = 0; j < 8; ++j) parts[j] = make_tensor(parameter_type, 4, shared, 0);
    scalars s;
    set_scalars(&s, type, 1, 0);
    double* const running = values_of(&parts[2]);
    assert_int_equal(cudnnBatchNormalizationForwardTraining(
                         handle, is_spatial, s.alpha, s.beta, x.descriptor, x.data, y.descriptor,
                         y.data, parts[0].descriptor, parts[0].data, parts[1].data, 0.25,
                         parts[2].data, parts[3].data, 1e-3, parts[4].data, parts[5].data),
                     0);
    wait();
    double *const expected = calloc(x.count, 8), *const back = calloc(x.count, 8);
    double *const means = calloc(parts[0].count, 8), *const deviations = calloc(parts[0].count, 8);
    double* const sums = calloc(2 * parts[0].count, 8);
    size_t size = 0;
    for (size_t g = 0; g < parts[0].count; ++g) {
      double variance = 0;
      measure(&x, &parts[0], g, &means[g], &variance, &size);
      deviations[g] = 1 / sqrt(variance + 1e-3);
      running[g] = 0.75 * running[g] + 0.25 * means[g];
    }
    normalize_plainly(&x, &dy, parts, is_spatial, size, means, deviations, expected, back, sums);
    expect_values(&y, expected, 2);
    expect_values(&parts[2], running, 1);
    expect_values(&parts[4], means, 1);
    expect_values(&parts[5], deviations, 1);
    assert_int_equal(
        cudnnBatchNormalizationBackward(handle, is_spatial, s.alpha, s.beta, s.alpha, s.beta,
                                        x.descriptor, x.data, dy.descriptor, dy.data, dx.descriptor,
                                        dx.data, parts[0].descriptor, parts[0].data, parts[6].data,
                                        parts[7].data, 1e-3, parts[4].data, parts[5].data),
        0);
    wait();
    expect_values(&dx, back, 60);
    expect_values(&parts[6], sums, 30);
    expect_values(&parts[7], sums + parts[0].count, 30);
    free(running);
    free(expected);
    free(back);
    free(means);
    free(deviations);
    free(sums);
    for (int j = 0; j < 8; ++j) free_tensor(&parts[j]);
    free_tensor(&x);
    free_tensor(&y);
    free_tensor(&dy);
    free_tensor(&dx);
  }
}

static double reduced(int op, double total, double x, int is_first) {
  switch (op) {
    case 0:
    case 5:
      return total + x;
    case 1:
      return is_first ? x : total * x;
    case 2:
      return is_first || x < total ? x : total;
    case 3:
      return is_first || x > total ? x : total;
    case 4:
      return fmax(total, fabs(x));
    case 6:
      return total + fabs(x);
    case 7:
      return total + x * x;
    default:
      return x == 0 ? (is_first ? 1 : total) : is_first ? x : total * x;
  }
}

static void reductions_over_dimensions(void** state) {
  (void)state;
  const int count = case_count(72);
  for (int i = 0; i < count; ++i) {
    random_state = (uint64_t)i + 51;
    const int type = kFloats[i % 4], op = i / 4 % 9;
    int dims[4], kept[4];
    random_dims(dims);
    for (int d = 0; d < 4; ++d) kept[d] = between(0, 1) ? dims[d] : 1;
    if (op == 1 || op == 8) kept[2] = dims[2]; /* products overflow soon */
    tensor a = random_tensor(type, dims, 4), c = make_tensor(type, 4, kept, 0);
    scalars s;
    set_scalars(&s, type, 1, 0);
    double* const expected = calloc(c.count, 8);
    size_t* const sizes = calloc(c.count, sizeof(size_t));
    for (size_t j = 0; j < a.count; ++j) {
      int at[MOST] = {0};
      position_of(&a, j, at);
      size_t g = 0;
      for (int d = 0; d < 4; ++d) {
        g = g * (size_t)kept[d] + (size_t)(kept[d] == 1 ? 0 : at[d]);
      }
      expected[g] = reduced(op, expected[g], get_nth(&a, j), sizes[g] == 0);
      ++sizes[g];
    }
    for (size_t g = 0; g < c.count; ++g) {
      if (op == 5) expected[g] /= (double)sizes[g];
      if (op == 7) expected[g] = sqrt(expected[g]);
    }
    void* reduction = NULL;
    assert_int_equal(cudnnCreateReduceTensorDescriptor(&reduction), 0);
    assert_int_equal(
        cudnnSetReduceTensorDescriptor(reduction, op, type == F64 ? F64 : F32, 1, 0, 0), 0);
    assert_int_equal(cudnnReduceTensor(handle, reduction, NULL, 0, NULL, 0, s.alpha, a.descriptor,
                                       a.data, s.beta, c.descriptor, c.data),
                     0);
    wait();
    int is_finite = 1;
    for (size_t g = 0; g < c.count; ++g) is_finite = is_finite && fabs(expected[g]) < 6e4;
    if (is_finite) expect_values(&c, expected, 2);
    free(expected);
    free(sizes);
    assert_int_equal(cudnnDestroyReduceTensorDescriptor(reduction), 0);
    free_tensor(&a);
    free_tensor(&c);
  }
}

static void operations_on_two_tensors(void** state) {
  (void)state;
  for (int i = 0; i < 24; ++i) {
    random_state = (uint64_t)i + 61;
    const int type = kFloats[i % 4], op = i / 4;
    int dims[4];
    random_dims(dims);
    const int channel[] = {1, dims[1], 1, 1};
    tensor a = random_tensor(type, dims, 4), b = make_tensor(type, 4, channel, 0);
    tensor c = random_tensor(type, dims, 4);
    scalars s, second;
    set_scalars(&s, type == F64 ? F64 : F32, 0.5, 2);
    set_scalars(&second, type == F64 ? F64 : F32, 4, 0);
    double* const expected = values_of(&c);
    for (size_t j = 0; j < a.count; ++j) {
      int at[MOST] = {0};
      position_of(&a, j, at);
      if (op == 4) set_nth(&a, j, fabs(get_nth(&a, j)));
      const int spot[MOST] = {0, at[1]};
      const double x = 0.5 * get(&a, at), y = 4 * get(&b, spot);
      const double values[] = {x + y, x * y, fmin(x, y), fmax(x, y), sqrt(x), 1 - x};
      expected[j] = values[op] + 2 * expected[j];
    }
    void* descriptor = NULL;
    assert_int_equal(cudnnCreateOpTensorDescriptor(&descriptor), 0);
    assert_int_equal(cudnnSetOpTensorDescriptor(descriptor, op, type == F64 ? F64 : F32, 1), 0);
    assert_int_equal(cudnnOpTensor(handle, descriptor, s.alpha, a.descriptor, a.data, second.alpha,
                                   b.descriptor, b.data, s.beta, c.descriptor, c.data),
                     0);
    wait();
    expect_values(&c, expected, 4);
    free(expected);
    assert_int_equal(cudnnDestroyOpTensorDescriptor(descriptor), 0);
    free_tensor(&a);
    free_tensor(&b);
    free_tensor(&c);
  }
}

static void tensors_are_copied_scaled_and_filled(void** state) {
  (void)state;
  for (int i = 0; i < 12; ++i) {
    random_state = (uint64_t)i + 71;
    const int type = kFloats[i % 4];
    int dims[4];
    random_dims(dims);
    const int channel[] = {1, dims[1], 1, 1};
    tensor x = random_tensor(type, dims, 4), y = random_tensor(type, dims, 4);
    tensor bias = make_tensor(type, 4, channel, 0);
    scalars s;
    set_scalars(&s, type, 0.5, -1);
    double* const expected = values_of(&y);
    for (size_t j = 0; j < x.count; ++j) expected[j] = 0.5 * get_nth(&x, j) - expected[j];
    assert_int_equal(
        cudnnTransformTensor(handle, s.alpha, x.descriptor, x.data, s.beta, y.descriptor, y.data),
        0);
    wait();
    expect_values(&y, expected, 2);
    assert_int_equal(cudnnScaleTensor(handle, y.descriptor, y.data, s.alpha), 0);
    set_scalars(&s, type, 1, 1);
    assert_int_equal(
        cudnnAddTensor(handle, s.alpha, bias.descriptor, bias.data, s.beta, y.descriptor, y.data),
        0);
    wait();
    for (size_t j = 0; j < x.count; ++j) {
      int at[MOST] = {0};
      position_of(&x, j, at);
      const int spot[MOST] = {0, at[1]};
      expected[j] = 0.5 * expected[j] + get(&bias, spot);
    }
    expect_values(&y, expected, 3);
    tensor one = bias; /* a value of the tensor's type */
    set_at(&one, 0, 1.5);
    assert_int_equal(cudnnSetTensor(handle, y.descriptor, y.data, one.data), 0);
    wait();
    for (size_t j = 0; j < x.count; ++j) expected[j] = 1.5;
    expect_values(&y, expected, 0);
    free(expected);
    free_tensor(&x);
    free_tensor(&y);
    free_tensor(&bias);
  }
}

static void responses_are_normalized_across_channels(void** state) {
  (void)state;
  for (int i = 0; i < 8; ++i) {
    random_state = (uint64_t)i + 81;
    const int type = kFloats[i % 4], size = 2 * between(0, 2) + 1;
    int dims[4];
    random_dims(dims);
    tensor x = random_tensor(type, dims, 4), y = random_tensor(type, dims, 4);
    scalars s;
    set_scalars(&s, type, 1, 0);
    double* const expected = calloc(x.count, 8);
    for (size_t j = 0; j < x.count; ++j) {
      int at[MOST] = {0};
      position_of(&x, j, at);
      double sum = 0;
      for (int c = at[1] - size / 2; c <= at[1] + size / 2; ++c) {
        const int other[MOST] = {at[0], c, at[2], at[3]};
        if (c >= 0 && c < dims[1]) sum += get(&x, other) * get(&x, other);
      }
      expected[j] = get(&x, at) * pow(2 + 0.25 / size * sum, -0.75);
    }
    void* lrn = NULL;
    assert_int_equal(cudnnCreateLRNDescriptor(&lrn), 0);
    assert_int_equal(cudnnSetLRNDescriptor(lrn, (unsigned)size, 0.25, 0.75, 2), 0);
    assert_int_equal(cudnnLRNCrossChannelForward(handle, lrn, 0, s.alpha, x.descriptor, x.data,
                                                 s.beta, y.descriptor, y.data),
                     0);
    wait();
    expect_values(&y, expected, 1);
    free(expected);
    assert_int_equal(cudnnDestroyLRNDescriptor(lrn), 0);
    free_tensor(&x);
    free_tensor(&y);
  }
}

/* A divisive normalization's result at a place, with windows of 3 x 3. */
static double divided(const tensor* x, const tensor* means, const int* at) {
  double sum = 0;
  for (int i = 0; i < 9; ++i) {
    const int near[] = {at[0], at[1], at[2] + i / 3 - 1, at[3] + i % 3 - 1};
    if (near[2] < 0 || near[2] >= x->dims[2] || near[3] < 0 || near[3] >= x->dims[3]) continue;
    sum += pow(get(x, near) - get(means, near), 2);
  }
  return (get(x, at) - get(means, at)) * pow(2 + 0.25 / 9 * sum, -0.75);
}
/* The product of dy with the results, whose derivatives are the gradients. */
static double divided_product(const tensor* x, const tensor* means, const tensor* dy) {
  double sum = 0;
  for (size_t i = 0; i < x->count; ++i) {
    int at[MOST] = {0};
    position_of(x, i, at);
    sum += get(dy, at) * divided(x, means, at);
  }
  return sum;
}
static void planes_are_divided_by_their_windows(void** state) {
  (void)state;
  void* lrn = NULL;
  assert_int_equal(cudnnCreateLRNDescriptor(&lrn), 0);
  assert_int_equal(cudnnSetLRNDescriptor(lrn, 3, 0.25, 0.75, 2), 0);
  const double one = 1, half = 0.5, zero = 0, step = 1e-5;
  for (int i = 0; i < 6; ++i) {
    const int dims[] = {between(1, 2), between(1, 2), between(1, 4), between(1, 5)};
    tensor t[5]; /* x, means, dy, the result and then dx, dMeans */
    for (int j = 0; j < 5; ++j) t[j] = make_tensor(F64, 4, dims, 0);
    double* const expected = calloc(t[0].count, sizeof *expected);
    for (size_t j = 0; j < t[0].count; ++j) {
      int at[MOST] = {0};
      position_of(&t[0], j, at);
      expected[j] = divided(&t[0], &t[1], at);
    }
    assert_int_equal(
        cudnnDivisiveNormalizationForward(handle, lrn, 0, &one, t[0].descriptor, t[0].data,
                                          t[1].data, NULL, NULL, &zero, t[3].descriptor, t[3].data),
        0);
    wait();
    expect_values(&t[3], expected, 1);
    double* const old = values_of(&t[3]);
    for (size_t j = 0; j < t[0].count; ++j) {
      const double x = get_nth(&t[0], j);
      set_nth(&t[0], j, x + step);
      const double above = divided_product(&t[0], &t[1], &t[2]);
      set_nth(&t[0], j, x - step);
      expected[j] = (above - divided_product(&t[0], &t[1], &t[2])) / (2 * step);
      set_nth(&t[0], j, x);
    }
    assert_int_equal(cudnnDivisiveNormalizationBackward(
                         handle, lrn, 0, &one, t[0].descriptor, t[0].data, t[1].data, t[2].data,
                         NULL, NULL, &zero, t[3].descriptor, t[3].data, t[4].data),
                     0);
    wait();
    for (size_t j = 0; j < t[0].count; ++j) {
      assert_true(fabs(get_nth(&t[3], j) - expected[j]) < 1e-8);
      assert_true(get_nth(&t[4], j) == -get_nth(&t[3], j));
      set_nth(&t[3], j, old[j]);
    }
    assert_int_equal(cudnnDivisiveNormalizationBackward(handle, lrn, 0, &half, t[0].descriptor,
                                                        t[0].data, t[1].data, t[2].data, NULL, NULL,
                                                        &half, t[3].descriptor, t[3].data, NULL),
                     0);
    wait();
    for (size_t j = 0; j < t[0].count; ++j) {
      assert_true(fabs(get_nth(&t[3], j) - (old[j] + expected[j]) / 2) < 1e-8);
    }
    free(old);
    free(expected);
    for (int j = 0; j < 5; ++j) free_tensor(&t[j]);
  }
  assert_int_equal(cudnnDestroyLRNDescriptor(lrn), 0);
}

static void dropout_zeroes_its_share(void** state) {
  (void)state;
  const int dims[] = {4, 8, 16, 16};
  tensor x = make_tensor(F32, 4, dims, 0), y = make_tensor(F32, 4, dims, 2);
  tensor dx = make_tensor(F32, 4, dims, 1);
  for (size_t i = 0; i < x.count; ++i) set_nth(&x, i, 1);
  size_t state_bytes = 0, reserve_bytes = 0;
  void *dropout = NULL, *states = NULL, *reserve = NULL;
  assert_int_equal(cudnnDropoutGetStatesSize(handle, &state_bytes), 0);
  assert_int_equal(cudnnDropoutGetReserveSpaceSize(x.descriptor, &reserve_bytes), 0);
  assert_int_equal(cudaMalloc(&states, state_bytes), 0);
  assert_int_equal(cudaMalloc(&reserve, reserve_bytes), 0);
  assert_int_equal(cudnnCreateDropoutDescriptor(&dropout), 0);
  assert_int_equal(cudnnSetDropoutDescriptor(dropout, handle, 0.25f, states, state_bytes, 7), 0);
  double* first = NULL;
  for (int round = 0; round < 2; ++round) {
    assert_int_equal(cudnnDropoutForward(handle, dropout, x.descriptor, x.data, y.descriptor,
                                         y.data, reserve, reserve_bytes),
                     0);
    assert_int_equal(cudnnDropoutBackward(handle, dropout, x.descriptor, x.data, dx.descriptor,
                                          dx.data, reserve, reserve_bytes),
                     0);
    wait();
    double* const values = values_of(&y);
    size_t kept = 0;
    for (size_t i = 0; i < y.count; ++i) {
      kept += values[i] != 0;
      assert_true(values[i] == 0 || fabs(values[i] - 1 / 0.75) < 1e-6);
    }
    assert_true(fabs((double)kept / (double)y.count - 0.75) < 0.02);
    expect_values(&dx, values, 0);
    if (round == 1) assert_memory_not_equal(first, values, y.count * sizeof *values);
    if (round == 1)
      free(values);
    else
      first = values;
  }
  free(first);
  assert_int_equal(cudnnDestroyDropoutDescriptor(dropout), 0);
  assert_int_equal(cudaFree(states), 0);
  assert_int_equal(cudaFree(reserve), 0);
  free_tensor(&x);
  free_tensor(&y);
  free_tensor(&dx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(activations_and_their_gradients),
      cmocka_unit_test(softmax_sums_to_one),
      cmocka_unit_test(pooling_over_windows),
      cmocka_unit_test(batch_normalization),
      cmocka_unit_test(reductions_over_dimensions),
      cmocka_unit_test(operations_on_two_tensors),
      cmocka_unit_test(tensors_are_copied_scaled_and_filled),
      cmocka_unit_test(responses_are_normalized_across_channels),
      cmocka_unit_test(planes_are_divided_by_their_windows),
      cmocka_unit_test(dropout_zeroes_its_share),
  };
  return cmocka_run_group_tests(tests, start, end);
}
