/* Tensors of any type and strides for the tests of cuDNN, and what they hold as doubles. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int cudnnCreate(void**);
int cudnnDestroy(void*);
int cudnnSetStream(void*, void*);
int cudnnCreateTensorDescriptor(void**);
int cudnnSetTensorNdDescriptor(void*, int, int, const int*, const int*);
int cudnnDestroyTensorDescriptor(void*);

enum { F32 = 0, F64 = 1, F16 = 2, INT8 = 3, INT32 = 4, BF16 = 9 };
enum { BAD_PARAM = 2000, NOT_SUPPORTED = 3000, NOT_INITIALIZED = 1001, MOST = 6 };

/* A tensor in managed memory. */
typedef struct {
  int type, rank, dims[MOST], strides[MOST];
  size_t count, span;
  char* data;
  void* descriptor;
} tensor;

static uint64_t random_state = 1;
static inline uint32_t draw(uint32_t below) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((random_state >> 33) % below);
}
static inline int between(int least, int most) {
  return least + (int)draw((uint32_t)(most - least + 1));
}

static inline size_t bytes_of(int type) {
  return type == F64 ? 8 : type == F16 || type == BF16 ? 2 : type == INT8 ? 1 : 4;
}

static inline float float_of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static inline uint32_t bits_of_float(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
static inline double of_half(uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double sign = bits >> 15 ? -1 : 1;
  if (exponent == 0) return sign * ldexp(mantissa, -24);
  if (exponent == 31) return mantissa ? (double)NAN : sign * (double)INFINITY;
  return sign * ldexp(mantissa + 1024, exponent - 25);
}
/* Nearest, ties to even, by search: slow and plain. */
static inline uint16_t to_half(double value) {
  uint16_t low = 0, high = 0x7bff;
  const double magnitude = fabs(value);
  while (low < high) {
    const uint16_t middle = (uint16_t)((low + high + 1) / 2);
    if (of_half(middle) <= magnitude)
      low = middle;
    else
      high = (uint16_t)(middle - 1);
  }
  if (low < 0x7bff) {
    const double below = magnitude - of_half(low), above = of_half((uint16_t)(low + 1)) - magnitude;
    if (above < below || (above == below && low % 2 != 0)) ++low;
  }
  return (uint16_t)(low | (value < 0 ? 0x8000 : 0));
}

static inline double get_at(const tensor* t, size_t at) {
  const char* const from = t->data + at * bytes_of(t->type);
  uint16_t bits = 0;
  if (bytes_of(t->type) == 2) memcpy(&bits, from, 2);
  switch (t->type) {
    case F64:
      return *(const double*)from;
    case F16:
      return of_half(bits);
    case BF16:
      return (double)float_of_bits((uint32_t)bits << 16);
    case INT8:
      return *(const signed char*)from;
    case INT32:
      return *(const int*)from;
    default:
      return (double)*(const float*)from;
  }
}
static inline void set_at(tensor* t, size_t at, double value) {
  char* const to = t->data + at * bytes_of(t->type);
  const uint16_t half = to_half(value);
  const uint16_t brain = (uint16_t)(bits_of_float((float)value) >> 16);
  switch (t->type) {
    case F64:
      *(double*)to = value;
      break;
    case F16:
      memcpy(to, &half, 2);
      break;
    case BF16:
      memcpy(to, &brain, 2);
      break;
    case INT8:
      *(signed char*)to = (signed char)value;
      break;
    case INT32:
      *(int*)to = (int)value;
      break;
    default:
      *(float*)to = (float)value;
  }
}

static inline size_t offset_at(const tensor* t, const int* at) {
  size_t found = 0;
  for (int i = 0; i < t->rank; ++i) {
    if (t->dims[i] > 1) found += (size_t)at[i] * (size_t)t->strides[i];
  }
  return found;
}
static inline void position_of(const tensor* t, size_t index, int* at) {
  for (int i = t->rank - 1; i >= 0; --i) {
    at[i] = (int)(index % (size_t)t->dims[i]);
    index /= (size_t)t->dims[i];
  }
}
static inline double get(const tensor* t, const int* at) { return get_at(t, offset_at(t, at)); }
static inline double get_nth(const tensor* t, size_t index) {
  int at[MOST] = {0};
  position_of(t, index, at);
  return get(t, at);
}
static inline void set_nth(tensor* t, size_t index, double value) {
  int at[MOST] = {0};
  position_of(t, index, at);
  set_at(t, offset_at(t, at), value);
}

/* Dimensions lie in memory in the order that `layout` says: 0 as they come, 1 channels last, 2 in a
   random order with gaps. */
static inline void lay_out(tensor* t, int layout) {
  int order[MOST], stride = 1;
  for (int i = 0; i < t->rank; ++i) order[i] = t->rank - 1 - i;
  if (layout == 1) {
    order[0] = 1;
    for (int i = 1; i < t->rank - 1; ++i) order[i] = t->rank - i;
  }
  for (int i = t->rank - 1; layout == 2 && i > 0; --i) {
    const int j = between(0, i), other = order[i];
    order[i] = order[j];
    order[j] = other;
  }
  for (int i = 0; i < t->rank; ++i) {
    t->strides[order[i]] = stride;
    stride = stride * t->dims[order[i]] + (layout == 2 ? between(0, 2) : 0);
  }
}

/* A tensor of small random values: integers, so that few roundings differ, in integer types. */
static inline tensor make_tensor(int type, int rank, const int* dims, int layout) {
  tensor t = {.type = type, .rank = rank, .count = 1, .span = 1};
  memcpy(t.dims, dims, (size_t)rank * sizeof(int));
  lay_out(&t, layout);
  for (int i = 0; i < rank; ++i) {
    t.count *= (size_t)dims[i];
    t.span += (size_t)(dims[i] - 1) * (size_t)t.strides[i];
  }
  assert_int_equal(cudaMallocManaged((void**)&t.data, t.span * bytes_of(type), cudaMemAttachGlobal),
                   0);
  memset(t.data, 0x55, t.span * bytes_of(type));
  for (size_t i = 0; i < t.count; ++i) {
    const int is_integer = type == INT8 || type == INT32;
    set_nth(&t, i, is_integer ? between(-9, 9) : (double)between(-64, 64) / 32);
  }
  assert_int_equal(cudnnCreateTensorDescriptor(&t.descriptor), 0);
  assert_int_equal(cudnnSetTensorNdDescriptor(t.descriptor, type, rank, t.dims, t.strides), 0);
  return t;
}
static inline void free_tensor(tensor* t) {
  assert_int_equal(cudaFree(t->data), 0);
  assert_int_equal(cudnnDestroyTensorDescriptor(t->descriptor), 0);
}
/* What a tensor holds now, in the order of its dimensions. */
static inline double* values_of(const tensor* t) {
  double* const values = malloc(t->count * sizeof *values);
  for (size_t i = 0; i < t->count; ++i) values[i] = get_nth(t, i);
  return values;
}

/* The relative error that a type and sums in f32 may have. */
static inline double tolerance_of(int type) {
  return type == F64 ? 1e-12 : type == F16 ? 1.1e-3 : type == BF16 ? 8e-3 : 2e-5;
}
static inline void expect_values(const tensor* t, const double* expected, double scale) {
  for (size_t i = 0; i < t->count; ++i) {
    const double value = get_nth(t, i);
    const double room = tolerance_of(t->type) * (fabs(expected[i]) + scale);
    if (!(fabs(value - expected[i]) <= room)) {
      fail_msg("element %zu of %zu (type %d) is %g, not %g", i, t->count, t->type, value,
               expected[i]);
    }
  }
}

/* Scalars for tensors of a type. */
typedef struct {
  float f[2];
  double d[2];
  const void *alpha, *beta;
} scalars;
static inline void set_scalars(scalars* s, int type, double alpha, double beta) {
  s->f[0] = (float)alpha;
  s->f[1] = (float)beta;
  s->d[0] = alpha;
  s->d[1] = beta;
  s->alpha = type == F64 ? (const void*)&s->d[0] : &s->f[0];
  s->beta = type == F64 ? (const void*)&s->d[1] : &s->f[1];
}

/* The number of random cases: CUDNN_CASES, or a few. */
static inline int case_count(int few) {
  const char* const text = getenv("CUDNN_CASES");
  return text != NULL ? atoi(text) : few;
}
