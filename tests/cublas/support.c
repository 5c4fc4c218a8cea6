#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cublasHandle_t handle;

enum { MOST_BLOCKS = 256 };
static void* blocks[MOST_BLOCKS];
static int block_count;
static uint32_t random_state;

void expect_status(int expected, int given, const char* call, const char* file, int line) {
  if (expected == given) return;
  print_error("%s gave %d, not %d\n", call, given, expected);
  _fail(file, line);
}

int set_up(void** state) {
  (void)state;
  random_state = 1;
  return (int)cublasCreate_v2(&handle);
}

int tear_down(void** state) {
  (void)state;
  wait_for_device();
  for (int i = 0; i < block_count; ++i) cudaFree(blocks[i]);
  block_count = 0;
  return (int)cublasDestroy_v2(handle);
}

void* managed(size_t size_bytes) {
  void* block = NULL;
  assert_true(block_count < MOST_BLOCKS);
  OK(cudaMallocManaged(&block, size_bytes + 16, cudaMemAttachGlobal));
  blocks[block_count++] = block;
  return block;
}

void wait_for_device(void) { OK(cudaDeviceSynchronize()); }

size_t size_of(char type) { return type == 'S' ? 4 : type == 'Z' ? 16 : 8; }

number get(char type, const void* data, long index) {
  switch (type) {
    case 'S':
      return ((const float*)data)[index];
    case 'D':
      return ((const double*)data)[index];
    case 'C': {
      const c32 value = ((const c32*)data)[index];
      return value.x + I * (double)value.y;
    }
    default: {
      const c64 value = ((const c64*)data)[index];
      return value.x + I * value.y;
    }
  }
}

void put(char type, void* data, long index, number value) {
  const double x = creal(value), y = cimag(value);
  switch (type) {
    case 'S':
      ((float*)data)[index] = (float)x;
      return;
    case 'D':
      ((double*)data)[index] = x;
      return;
    case 'C':
      ((c32*)data)[index] = (c32){(float)x, (float)y};
      return;
    default:
      ((c64*)data)[index] = (c64){x, y};
      return;
  }
}

static double next_random(void) {
  random_state = random_state * 1664525u + 1013904223u;
  return (double)(int32_t)(random_state & 0xffffff00u) / 2147483648.0;
}

void* fill(char type, long count) {
  void* const data = managed((size_t)count * size_of(type));
  for (long i = 0; i < count; ++i) {
    const double x = next_random(), y = next_random();
    put(type, data, i, type == 'C' || type == 'Z' ? x + I * y : x);
  }
  return data;
}

number element(char type, const void* a, long leading, int op, long row, long column) {
  if (op == OP_N) return get(type, a, row + column * leading);
  const number value = get(type, a, column + row * leading);
  return op == OP_C ? conj(value) : value;
}

void expect_near(char type, number expected, number given, const char* file, int line) {
  const double limit = type == 'S' || type == 'C' ? 2e-5 : 1e-12;
  if (expected == given || cabs(expected - given) <= limit * (1 + cabs(expected))) return;
  print_error("%.9g + %.9g i is not %.9g + %.9g i\n", creal(given), cimag(given), creal(expected),
              cimag(expected));
  _fail(file, line);
}

float half_to_float(uint16_t bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  const float size = exponent == 0 ? ldexpf((float)fraction, -24)
                                   : ldexpf((float)(1024 + fraction), exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

/* Takes numbers that are normal in f16; rounds to the nearest, ties to even. */
uint16_t half_of(float value) {
  int exponent = 0;
  if (value == 0) return 0;
  const float fraction = frexpf(fabsf(value), &exponent); /* 0.5 to 1 */
  const long rounded = lrintf(ldexpf(fraction, 11));      /* 1024 to 2048 */
  const uint16_t bits = (uint16_t)(((exponent + 14) << 10) + (rounded - 1024));
  return value < 0 ? bits | 0x8000 : bits;
}

uint16_t bfloat_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

float bfloat_to_float(uint16_t bits) {
  const uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, sizeof value);
  return value;
}
