/* Vectors of channels (CUDNN_TENSOR_NCHW_VECT_C), padding and folding, against plain loops. */
#include "cudnn_support.h"

int cudnnSetTensorNdDescriptorEx(void*, int, int, int, const int*);
int cudnnGetTensorNdDescriptor(void*, int, int*, int*, int*, int*);
int cudnnGetTensorSizeInBytes(void*, size_t*);
int cudnnTransformTensor(void*, const void*, void*, const void*, const void*, void*, void*);
int cudnnTransformTensorEx(void*, void*, const void*, void*, const void*, const void*, void*,
                           void*);
int cudnnTransformFilter(void*, void*, const void*, void*, const void*, const void*, void*, void*);
int cudnnInitTransformDest(void*, void*, void*, size_t*);
int cudnnCreateTensorTransformDescriptor(void**);
int cudnnSetTensorTransformDescriptor(void*, uint32_t, int, const int*, const int*, const uint32_t*,
                                      int);
int cudnnDestroyTensorTransformDescriptor(void*);
int cudnnCreateFilterDescriptor(void**);
int cudnnSetFilterNdDescriptor(void*, int, int, int, const int*);
int cudnnGetFilterNdDescriptor(void*, int, int*, int*, int*, int*);
int cudnnDestroyFilterDescriptor(void*);
int cudnnCreateConvolutionDescriptor(void**);
int cudnnSetConvolutionNdDescriptor(void*, int, const int*, const int*, const int*, int, int);
int cudnnSetConvolutionReorderType(void*, int);
int cudnnDestroyConvolutionDescriptor(void*);
int cudnnConvolutionForward(void*, const void*, void*, const void*, void*, const void*, void*, int,
                            void*, size_t, const void*, void*, void*);
int cudnnConvolutionBiasActivationForward(void*, const void*, void*, const void*, void*,
                                          const void*, void*, int, void*, size_t, const void*,
                                          void*, const void*, void*, const void*, void*, void*,
                                          void*);
int cudnnConvolutionBackwardData(void*, const void*, void*, const void*, void*, const void*, void*,
                                 int, void*, size_t, const void*, void*, void*);
int cudnnGetFoldedConvBackwardDataDescriptors(void*, void*, void*, void*, void*, int, void*, void*,
                                              void*, void*, void*, void*, void*, void*);
int cudnnReorderFilterAndBias(void*, void*, int, const void*, void*, int, const void*, void*);
int cudnnCreateActivationDescriptor(void**);
int cudnnSetActivationDescriptor(void*, int, int, double);
int cudnnDestroyActivationDescriptor(void*);
int cudnnCreatePoolingDescriptor(void**);
int cudnnSetPooling2dDescriptor(void*, int, int, int, int, int, int, int, int);
int cudnnDestroyPoolingDescriptor(void*);
int cudnnPoolingForward(void*, void*, const void*, void*, const void*, const void*, void*, void*);
int cudnnSoftmaxForward(void*, int, int, const void*, void*, const void*, const void*, void*,
                        void*);

enum { INT8X4 = 5, INT8X32 = 8, NCHW = 0, NHWC = 1, VECT_C = 2 };

/* The place of an element of NCHW in a tensor of vectors. */
static size_t vector_place(const int* dims, int vector, size_t index) {
  const size_t plane = (size_t)dims[2] * (size_t)dims[3], channels = (size_t)dims[1];
  const size_t pixel = index % plane, c = index / plane % channels, n = index / plane / channels;
  const size_t v = (size_t)vector;
  return ((n * (channels / v) + c / v) * plane + pixel) * v + c % v;
}
static int vector_of(int type) { return type == INT8X32 ? 32 : 4; }
/* A copy of a dense tensor of bytes, with vectors. */
static tensor vectors_of(const tensor* from, int type) {
  tensor t = make_tensor(INT8, 4, from->dims, 0);
  for (size_t i = 0; i < from->count; ++i) {
    t.data[vector_place(t.dims, vector_of(type), i)] = from->data[i];
  }
  assert_int_equal(cudnnSetTensorNdDescriptorEx(t.descriptor, VECT_C, type, 4, t.dims), 0);
  return t;
}

static void tensors_become_vectors_and_back(void** state) {
  (void)state;
  void* handle = NULL;
  assert_int_equal(cudnnCreate(&handle), 0);
  const float one = 1, zero = 0;
  for (int i = 0; i < 12; ++i) {
    const int type = i % 2 ? INT8X32 : INT8X4, vector = vector_of(type);
    const int dims[] = {between(1, 3), 32 * between(1, 2), between(1, 5), between(1, 4)};
    tensor x = make_tensor(INT8, 4, dims, 0), y = make_tensor(INT8, 4, dims, 0);
    tensor back = make_tensor(F32, 4, dims, between(0, 2));
    assert_int_equal(cudnnSetTensorNdDescriptorEx(y.descriptor, VECT_C, type, 4, dims), 0);
    int found = 0, rank = 0, extents[4], strides[4];
    size_t bytes = 0;
    assert_int_equal(cudnnGetTensorNdDescriptor(y.descriptor, 4, &found, &rank, extents, strides),
                     0);
    assert_int_equal(found, type);
    assert_memory_equal(extents, dims, sizeof dims);
    assert_int_equal(strides[3], 1);
    assert_int_equal(strides[0], (int)(x.count / (size_t)dims[0]) / vector);
    assert_int_equal(cudnnGetTensorSizeInBytes(y.descriptor, &bytes), 0);
    assert_int_equal(bytes, x.count);
    assert_int_equal(
        cudnnTransformTensor(handle, &one, x.descriptor, x.data, &zero, y.descriptor, y.data), 0);
    assert_int_equal(
        cudnnTransformTensor(handle, &one, y.descriptor, y.data, &zero, back.descriptor, back.data),
        0);
    assert_int_equal(cudaDeviceSynchronize(), 0);
    for (size_t j = 0; j < x.count; ++j) {
      assert_int_equal(y.data[vector_place(dims, vector, j)], x.data[j]);
      assert_int_equal((int)get_nth(&back, j), x.data[j]);
    }
    /* Both kinds of vectors at once. */
    assert_int_equal(
        cudnnSetTensorNdDescriptorEx(x.descriptor, VECT_C, type ^ INT8X4 ^ INT8X32, 4, dims), 0);
    assert_int_equal(
        cudnnTransformTensor(handle, &one, y.descriptor, y.data, &zero, x.descriptor, x.data), 0);
    assert_int_equal(cudaDeviceSynchronize(), 0);
    for (size_t j = 0; j < x.count; ++j) {
      assert_int_equal(x.data[vector_place(dims, 36 - vector, j)], (int)get_nth(&back, j));
    }
    free_tensor(&x);
    free_tensor(&y);
    free_tensor(&back);
  }
  const int odd[] = {1, 6, 2, 2};
  tensor t = make_tensor(INT8, 4, odd, 0);
  assert_int_equal(cudnnSetTensorNdDescriptorEx(t.descriptor, VECT_C, INT8X4, 4, odd), BAD_PARAM);
  assert_int_equal(cudnnSetTensorNdDescriptorEx(t.descriptor, VECT_C, F32, 4, odd), BAD_PARAM);
  assert_int_equal(cudnnSetTensorNdDescriptorEx(t.descriptor, NCHW, INT8X4, 4, odd), BAD_PARAM);
  free_tensor(&t);
  assert_int_equal(cudnnDestroy(handle), 0);
}

/* The sums of a convolution with bias, of dense tensors. */
static double* convolve(const tensor* x, const tensor* w, const tensor* y, const float* bias,
                        int pad, int step) {
  double* const sums = calloc(y->count, sizeof *sums);
  for (size_t i = 0; i < y->count; ++i) {
    int at[MOST], tap[MOST];
    position_of(y, i, at);
    for (size_t j = 0; j < w->count / (size_t)w->dims[0]; ++j) {
      position_of(w, j, tap);
      tap[0] = at[1];
      const int in[] = {at[0], tap[1], at[2] * step - pad + tap[2], at[3] * step - pad + tap[3]};
      if (in[2] < 0 || in[2] >= x->dims[2] || in[3] < 0 || in[3] >= x->dims[3]) continue;
      sums[i] += get(x, in) * get(w, tap);
    }
    sums[i] += (double)bias[at[1]];
  }
  return sums;
}

static void check_convolution(void* handle, int type, int reorder, int y_type) {
  const int v = vector_of(type), pad = between(0, 1), step = between(1, 2);
  const int xd[] = {between(1, 2), v * between(1, 2), between(3, 6), between(3, 6)};
  const int wd[] = {32 * between(1, 2), xd[1], between(1, 3), between(1, 3)};
  const int yd[] = {xd[0], wd[0], (xd[2] + 2 * pad - wd[2]) / step + 1,
                    (xd[3] + 2 * pad - wd[3]) / step + 1};
  const int bd[] = {1, wd[0], 1, 1}, pads[] = {pad, pad}, steps[] = {step, step}, ones[] = {1, 1};
  const float alpha = 0.03125f, none = 0;
  tensor x = make_tensor(INT8, 4, xd, 0), w = make_tensor(INT8, 4, wd, 0);
  tensor y = make_tensor(y_type == F32 ? F32 : INT8, 4, yd, 0), bias = make_tensor(F32, 4, bd, 0);
  tensor xv = vectors_of(&x, type), wv = vectors_of(&w, type), wr = vectors_of(&w, type);
  tensor reordered = make_tensor(F32, 4, bd, 0);
  void *filter = NULL, *convolution = NULL, *activation = NULL;
  if (y_type != F32) {
    assert_int_equal(cudnnSetTensorNdDescriptorEx(y.descriptor, VECT_C, y_type, 4, yd), 0);
  }
  assert_int_equal(cudnnCreateFilterDescriptor(&filter), 0);
  assert_int_equal(cudnnSetFilterNdDescriptor(filter, type, VECT_C, 4, wd), 0);
  assert_int_equal(cudnnCreateConvolutionDescriptor(&convolution), 0);
  assert_int_equal(cudnnSetConvolutionNdDescriptor(convolution, 2, pads, steps, ones, 1, INT32), 0);
  assert_int_equal(cudnnCreateActivationDescriptor(&activation), 0);
  assert_int_equal(cudnnSetActivationDescriptor(activation, 5, 0, 0), 0);
  if (reorder) {
    assert_int_equal(cudnnReorderFilterAndBias(handle, filter, 0, wv.data, wr.data, 1, bias.data,
                                               reordered.data),
                     0);
    assert_int_equal(cudnnSetConvolutionReorderType(convolution, 1), 0);
  }
  assert_int_equal(cudnnConvolutionBiasActivationForward(
                       handle, &alpha, xv.descriptor, xv.data, filter, reorder ? wr.data : wv.data,
                       convolution, 1, NULL, 0, &none, y.descriptor, y.data, bias.descriptor,
                       reorder ? reordered.data : bias.data, activation, y.descriptor, y.data),
                   0);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  if (reorder) assert_memory_not_equal(wr.data, wv.data, wv.count);
  float* const no_bias = calloc((size_t)wd[0], sizeof *no_bias);
  double* const sums = convolve(&x, &w, &y, no_bias, pad, step);
  for (size_t i = 0; i < y.count; ++i) {
    int at[MOST];
    position_of(&y, i, at);
    const double exact = 0.03125 * sums[i] + get_nth(&bias, (size_t)at[1]);
    const double expected = y_type == F32 ? exact : fmax(-128, fmin(127, nearbyint(exact)));
    const double value = y_type == F32
                             ? get_nth(&y, i)
                             : (double)(signed char)y.data[vector_place(yd, vector_of(y_type), i)];
    if (value != expected) fail_msg("element %zu is %g, not %g", i, value, expected);
  }
  free(sums);
  free(no_bias);
  tensor* const all[] = {&x, &w, &y, &bias, &xv, &wv, &wr, &reordered};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) free_tensor(all[i]);
  assert_int_equal(cudnnDestroyFilterDescriptor(filter), 0);
  assert_int_equal(cudnnDestroyConvolutionDescriptor(convolution), 0);
  assert_int_equal(cudnnDestroyActivationDescriptor(activation), 0);
}
static void vectors_are_convolved(void** state) {
  (void)state;
  void* handle = NULL;
  assert_int_equal(cudnnCreate(&handle), 0);
  const int results[] = {INT8X4, INT8X32, F32};
  for (int i = 0, count = case_count(12); i < count; ++i) {
    const int type = i % 2 ? INT8X32 : INT8X4;
    check_convolution(handle, type, type == INT8X32 && i % 4 == 1, results[i % 3]);
  }
  assert_int_equal(cudnnDestroy(handle), 0);
}

static void planes_of_vectors_are_pooled(void** state) {
  (void)state;
  void *handle = NULL, *pooling = NULL;
  assert_int_equal(cudnnCreate(&handle), 0);
  assert_int_equal(cudnnCreatePoolingDescriptor(&pooling), 0);
  assert_int_equal(cudnnSetPooling2dDescriptor(pooling, 0, 0, 2, 3, 0, 0, 2, 1), 0);
  const int xd[] = {2, 8, 4, 5}, yd[] = {2, 8, 2, 3};
  const float one = 1, zero = 0;
  tensor x = make_tensor(INT8, 4, xd, 0), y = make_tensor(INT8, 4, yd, 0);
  tensor xv = vectors_of(&x, INT8X4);
  assert_int_equal(cudnnSetTensorNdDescriptorEx(y.descriptor, VECT_C, INT8X4, 4, yd), 0);
  assert_int_equal(cudnnPoolingForward(handle, pooling, &one, xv.descriptor, xv.data, &zero,
                                       y.descriptor, y.data),
                   0);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  for (size_t i = 0; i < y.count; ++i) {
    int at[MOST];
    position_of(&y, i, at);
    int most = -128;
    for (int j = 0; j < 6; ++j) {
      const int in[] = {at[0], at[1], 2 * at[2] + j / 3, at[3] + j % 3};
      most = get(&x, in) > most ? (int)get(&x, in) : most;
    }
    assert_int_equal(y.data[vector_place(yd, 4, i)], most);
  }
  /* Layers without vectors say so. */
  assert_int_equal(cudnnSoftmaxForward(handle, 1, 1, &one, xv.descriptor, xv.data, &zero,
                                       xv.descriptor, xv.data),
                   NOT_SUPPORTED);
  free_tensor(&x);
  free_tensor(&y);
  free_tensor(&xv);
  assert_int_equal(cudnnDestroyPoolingDescriptor(pooling), 0);
  assert_int_equal(cudnnDestroy(handle), 0);
}

/* A tensor for a descriptor that the library has set. */
static tensor tensor_of(void* descriptor) {
  int type = 0, rank = 0, dims[MOST], strides[MOST];
  assert_int_equal(cudnnGetTensorNdDescriptor(descriptor, MOST, &type, &rank, dims, strides), 0);
  tensor t = make_tensor(type, rank, dims, 0);
  memcpy(t.strides, strides, sizeof strides);
  assert_int_equal(cudnnDestroyTensorDescriptor(t.descriptor), 0);
  t.descriptor = descriptor;
  return t;
}

static void padding_and_folding_move_elements(void** state) {
  (void)state;
  void *handle = NULL, *forward = NULL, *backward = NULL;
  assert_int_equal(cudnnCreate(&handle), 0);
  assert_int_equal(cudnnCreateTensorTransformDescriptor(&forward), 0);
  assert_int_equal(cudnnCreateTensorTransformDescriptor(&backward), 0);
  const float two = 2, half = 0.5f, zero = 0;
  for (int i = 0, count = case_count(20); i < count; ++i) {
    const int dims[] = {between(1, 2), between(1, 3), between(1, 6), between(1, 7)};
    const uint32_t fold[] = {(uint32_t)between(1, 3), (uint32_t)between(1, 2)};
    int before[4], after[4], minus_before[4], minus_after[4];
    for (int d = 0; d < 4; ++d) {
      before[d] = between(0, 2);
      after[d] = between(0, 2);
      const int whole = dims[d] + before[d] + after[d], f = d < 2 ? 1 : (int)fold[d - 2];
      minus_before[d] = -before[d];
      minus_after[d] = dims[d] + before[d] - (whole + f - 1) / f * f;
    }
    const int format = between(NCHW, NHWC);
    assert_int_equal(cudnnSetTensorTransformDescriptor(forward, 4, format, before, after, fold, 0),
                     0);
    assert_int_equal(cudnnSetTensorTransformDescriptor(backward, 4, between(NCHW, NHWC),
                                                       minus_before, minus_after, fold, 1),
                     0);
    tensor x = make_tensor(F32, 4, dims, between(0, 2));
    void *to = NULL, *back = NULL;
    size_t bytes = 0;
    assert_int_equal(cudnnCreateTensorDescriptor(&to), 0);
    assert_int_equal(cudnnCreateTensorDescriptor(&back), 0);
    assert_int_equal(cudnnInitTransformDest(forward, x.descriptor, to, &bytes), 0);
    assert_int_equal(cudnnInitTransformDest(backward, to, back, NULL), BAD_PARAM);
    tensor y = tensor_of(to);
    assert_int_equal(bytes, y.count * 4);
    assert_int_equal(cudnnInitTransformDest(backward, to, back, &bytes), 0);
    tensor z = tensor_of(back);
    assert_memory_equal(z.dims, dims, sizeof dims);
    assert_int_equal(
        cudnnTransformTensorEx(handle, forward, &two, x.descriptor, x.data, &zero, to, y.data), 0);
    assert_int_equal(
        cudnnTransformTensorEx(handle, backward, &half, to, y.data, &zero, back, z.data), 0);
    assert_int_equal(cudaDeviceSynchronize(), 0);
    for (size_t j = 0; j < x.count; ++j) assert_true(get_nth(&z, j) == get_nth(&x, j));
    for (size_t j = 0; j < y.count; ++j) {
      int at[MOST], from[4];
      position_of(&y, j, at);
      const int f = (int)fold[0], g = (int)fold[1], rest = at[1] % (f * g);
      from[0] = at[0] - before[0];
      from[1] = at[1] / (f * g) - before[1];
      from[2] = at[2] * f + rest / g - before[2];
      from[3] = at[3] * g + rest % g - before[3];
      double expected = 2;
      for (int d = 0; d < 4; ++d) expected = from[d] < 0 || from[d] >= dims[d] ? 0 : expected;
      if (expected != 0) expected *= get(&x, from);
      assert_true(get_nth(&y, j) == expected);
    }
    assert_int_equal(cudnnTransformTensorEx(handle, forward, &two, x.descriptor, x.data, &zero,
                                            x.descriptor, x.data),
                     y.count == x.count ? 0 : BAD_PARAM);
    assert_int_equal(cudaDeviceSynchronize(), 0);
    free_tensor(&x);
    free_tensor(&y);
    free_tensor(&z);
  }
  assert_int_equal(cudnnDestroyTensorTransformDescriptor(forward), 0);
  assert_int_equal(cudnnDestroyTensorTransformDescriptor(backward), 0);
  assert_int_equal(cudnnDestroy(handle), 0);
}

/* The gradient of the data by folding is the one that the convolution with steps gives. */
static void check_folded(void* handle) {
  const int pads[] = {between(0, 2), between(0, 2)}, steps[] = {between(1, 3), between(1, 3)};
  const int ones[] = {1, 1}, wd[] = {between(1, 3), between(1, 3), between(1, 4), between(1, 4)};
  const int xd[] = {2, wd[1], wd[2] + between(0, 6), wd[3] + between(0, 6)};
  const int yd[] = {2, wd[0], (xd[2] + 2 * pads[0] - wd[2]) / steps[0] + 1,
                    (xd[3] + 2 * pads[1] - wd[3]) / steps[1] + 1};
  const float one = 1, zero = 0;
  void *filter = NULL, *convolution = NULL, *folded[8] = {NULL};
  tensor dx = make_tensor(F32, 4, xd, 0), w = make_tensor(F32, 4, wd, 0);
  tensor dy = make_tensor(F32, 4, yd, 0);
  assert_int_equal(cudnnCreateFilterDescriptor(&filter), 0);
  assert_int_equal(cudnnSetFilterNdDescriptor(filter, F32, NCHW, 4, wd), 0);
  assert_int_equal(cudnnCreateConvolutionDescriptor(&convolution), 0);
  assert_int_equal(cudnnSetConvolutionNdDescriptor(convolution, 2, pads, steps, ones, 1, F32), 0);
  assert_int_equal(cudnnCreateFilterDescriptor(&folded[0]), 0);
  assert_int_equal(cudnnCreateTensorDescriptor(&folded[1]), 0);
  assert_int_equal(cudnnCreateConvolutionDescriptor(&folded[2]), 0);
  assert_int_equal(cudnnCreateTensorDescriptor(&folded[3]), 0);
  for (int i = 4; i < 8; ++i) {
    assert_int_equal(cudnnCreateTensorTransformDescriptor(&folded[i]), 0);
  }
  const int format = between(NCHW, NHWC);
  assert_int_equal(cudnnGetFoldedConvBackwardDataDescriptors(
                       handle, filter, dy.descriptor, convolution, dx.descriptor, format, folded[0],
                       folded[1], folded[2], folded[3], folded[4], folded[5], folded[6], folded[7]),
                   0);
  tensor padded = tensor_of(folded[1]), grad = tensor_of(folded[3]);
  int type = 0, found = 0, rank = 0, fd[MOST];
  assert_int_equal(cudnnGetFilterNdDescriptor(folded[0], MOST, &type, &found, &rank, fd), 0);
  assert_int_equal(found, format);
  tensor fw = make_tensor(F32, 4, fd, 0), result = make_tensor(F32, 4, xd, 0);
  assert_int_equal(
      cudnnTransformFilter(handle, folded[4], &one, filter, w.data, &zero, folded[0], fw.data), 0);
  assert_int_equal(cudnnTransformTensorEx(handle, folded[5], &one, dy.descriptor, dy.data, &zero,
                                          folded[1], padded.data),
                   0);
  assert_int_equal(
      cudnnConvolutionBackwardData(handle, &one, folded[0], fw.data, folded[1], padded.data,
                                   folded[2], 1, NULL, 0, &zero, folded[3], grad.data),
      0);
  assert_int_equal(cudnnTransformTensorEx(handle, folded[7], &one, folded[3], grad.data, &zero,
                                          result.descriptor, result.data),
                   0);
  assert_int_equal(
      cudnnConvolutionBackwardData(handle, &one, filter, w.data, dy.descriptor, dy.data,
                                   convolution, 1, NULL, 0, &zero, dx.descriptor, dx.data),
      0);
  assert_int_equal(cudaDeviceSynchronize(), 0);
  double* const expected = values_of(&dx);
  expect_values(&result, expected, 5);
  free(expected);
  tensor* const all[] = {&dx, &w, &dy, &padded, &grad, &fw, &result};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) free_tensor(all[i]);
  assert_int_equal(cudnnDestroyFilterDescriptor(filter), 0);
  assert_int_equal(cudnnDestroyFilterDescriptor(folded[0]), 0);
  assert_int_equal(cudnnDestroyConvolutionDescriptor(convolution), 0);
  assert_int_equal(cudnnDestroyConvolutionDescriptor(folded[2]), 0);
  for (int i = 4; i < 8; ++i) {
    assert_int_equal(cudnnDestroyTensorTransformDescriptor(folded[i]), 0);
  }
}
static void folded_gradients_are_those_of_steps(void** state) {
  (void)state;
  void* handle = NULL;
  assert_int_equal(cudnnCreate(&handle), 0);
  for (int i = 0, count = case_count(20); i < count; ++i) check_folded(handle);
  assert_int_equal(cudnnDestroy(handle), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tensors_become_vectors_and_back),
      cmocka_unit_test(vectors_are_convolved),
      cmocka_unit_test(planes_of_vectors_are_pooled),
      cmocka_unit_test(padding_and_folding_move_elements),
      cmocka_unit_test(folded_gradients_are_those_of_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
