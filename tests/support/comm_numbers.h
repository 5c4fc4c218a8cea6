/* Elements of all types of communicators as doubles, and what reductions of them give. */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Numbered as NCCL's. */
enum { INT8, UINT8, INT32, UINT32, INT64, UINT64, F16, F32, F64, BF16, E4M3, E5M2, TYPES };
enum { SUM, PROD, MAX, MIN, AVG, OPS };

static const int type_bytes[TYPES] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

/* Rounds to the nearest number with this many bits of exponent and mantissa. */
static inline uint32_t narrow_bits(double value, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const uint32_t sign = (signbit(value) != 0 ? 1U : 0U) << (exponent_bits + mantissa_bits);
  int exponent = 0;
  if (value == 0) return sign;
  const double fraction = frexp(fabs(value), &exponent) * 2; /* in [1, 2) */
  exponent -= 1;
  if (exponent < 1 - bias) {
    return sign | (uint32_t)rint(ldexp(fabs(value), bias - 1 + mantissa_bits));
  }
  /* A carry out of the mantissa goes into the exponent. */
  return sign | (((uint32_t)(exponent + bias) << mantissa_bits) +
                 (uint32_t)rint(ldexp(fraction - 1, mantissa_bits)));
}

static inline double narrow_value(uint32_t bits, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int field = (int)(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const double mantissa = bits & ((1U << mantissa_bits) - 1);
  const double sign = bits >> (exponent_bits + mantissa_bits) != 0 ? -1 : 1;
  if (field == 0) return sign * ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * ldexp(mantissa + (1 << mantissa_bits), field - bias - mantissa_bits);
}

#define STORE(kind, number)                \
  do {                                     \
    const kind stored = (kind)(number);    \
    memcpy(place, &stored, sizeof stored); \
  } while (0)

static inline void put_number(void* array, size_t i, int type, double value) {
  char* const place = (char*)array + i * (size_t)type_bytes[type];
  switch (type) {
    case INT8:
    case UINT8:
      STORE(uint8_t, (int64_t)value);
      break;
    case INT32:
    case UINT32:
      STORE(uint32_t, (int64_t)value);
      break;
    case INT64:
    case UINT64:
      STORE(int64_t, value);
      break;
    case F16:
      STORE(uint16_t, narrow_bits(value, 5, 10));
      break;
    case F32:
      STORE(float, value);
      break;
    case F64:
      STORE(double, value);
      break;
    case BF16:
      STORE(uint16_t, narrow_bits(value, 8, 7));
      break;
    case E4M3:
      STORE(uint8_t, narrow_bits(value, 4, 3));
      break;
    default:
      STORE(uint8_t, narrow_bits(value, 5, 2));
  }
}

#define LOAD(kind)                         \
  do {                                     \
    kind loaded;                           \
    memcpy(&loaded, place, sizeof loaded); \
    return (double)loaded;                 \
  } while (0)

static inline double get_number(const void* array, size_t i, int type) {
  const char* const place = (const char*)array + i * (size_t)type_bytes[type];
  uint16_t half;
  switch (type) {
    case INT8:
      LOAD(int8_t);
    case UINT8:
      LOAD(uint8_t);
    case INT32:
      LOAD(int32_t);
    case UINT32:
      LOAD(uint32_t);
    case INT64:
      LOAD(int64_t);
    case UINT64:
      LOAD(uint64_t);
    case F32:
      LOAD(float);
    case F64:
      LOAD(double);
    case F16:
    case BF16:
      memcpy(&half, place, sizeof half);
      return type == F16 ? narrow_value(half, 5, 10) : narrow_value(half, 8, 7);
    case E4M3:
      return narrow_value(*(const uint8_t*)place, 4, 3);
    default:
      return narrow_value(*(const uint8_t*)place, 5, 2);
  }
}
#undef STORE
#undef LOAD

static inline int is_integer(int type) { return type <= UINT64; }

/* The element of a rank: small, so that all results are exact, also those of 8 bits. */
static inline double element(int rank_number, size_t i, int op) {
  const uint64_t mixed = (i * 2654435761U + (uint64_t)rank_number * 40503U + 12345) >> 7;
  return op == PROD ? 1 + (double)(mixed % 2) : (double)(mixed % 2);
}

/* The result of all ranks' elements at one place; `scaled` multiplies each by 2. */
static inline double expected_number(int ranks, size_t i, int op, int type, int scaled) {
  double result = element(0, i, op) * (scaled ? 2 : 1);
  for (int r = 1; r < ranks; ++r) {
    const double value = element(r, i, op) * (scaled ? 2 : 1);
    if (op == PROD) {
      result *= value;
    } else if (op == MAX) {
      result = value > result ? value : result;
    } else if (op == MIN) {
      result = value < result ? value : result;
    } else {
      result += value;
    }
  }
  if (op == AVG) result = is_integer(type) ? trunc(result / ranks) : result / ranks;
  char wrapped[8]; /* integers of 8 bits wrap around */
  put_number(wrapped, 0, type, result);
  return get_number(wrapped, 0, type);
}
