// Numbers of all types of cuBLAS, by plain instructions: the PTX loads at any compute capability.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

enum {  // values of cudaDataType
  kR32F = 0, kR64F = 1, kR16F = 2, kR8I = 3, kC32F = 4, kC64F = 5, kR8U = 8, kR32I = 10,
  kR16BF = 14, kE4M3 = 28, kE5M2 = 29
};

template <class R>
struct Complex {
  R x, y;
};

__device__ inline float half_to_float(u16 bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
__device__ inline u16 float_to_half(float value) {
  u16 bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
__device__ inline float bfloat_to_float(u16 bits) { return __uint_as_float(u32(bits) << 16); }
__device__ inline u16 float_to_bfloat(float value) {
  const u32 bits = __float_as_uint(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fff;
  return u16((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
/// e4m3 has no infinities and one NaN; e5m2 is the upper half of f16.
__device__ inline float e4m3_to_float(u8 bits) {
  const u32 sign = u32(bits & 0x80) << 24, exponent = (bits >> 3) & 15, fraction = bits & 7;
  if (exponent == 15 && fraction == 7) return __uint_as_float(0x7fffffff);
  if (exponent == 0) return __uint_as_float(sign | __float_as_uint(float(fraction) * 0.001953125f));
  return __uint_as_float(sign | ((exponent + 120) << 23) | (fraction << 20));
}
/// Rounds to the nearest, ties to even, and stays finite.
__device__ inline u8 float_to_e4m3(float value) {
  const u32 bits = __float_as_uint(value);
  const u8 sign = u8((bits >> 24) & 0x80);
  const float size = __uint_as_float(bits & 0x7fffffff);
  if (size != size) return 0x7f;
  if (size >= 448.0f) return sign | 0x7e;
  if (size < 0.015625f) return sign | u8(rintf(size * 512.0f));
  const u32 rounded = (bits & 0x7fffffff) + 0x7ffff + ((bits >> 20) & 1);
  return sign | u8(((rounded >> 20) - (120 << 3)));
}
__device__ inline u8 float_to_e5m2(float value) {
  const u32 bits = __float_as_uint(value);
  const u8 sign = u8((bits >> 24) & 0x80);
  const float size = __uint_as_float(bits & 0x7fffffff);
  if (size != size) return 0x7f;
  if (size >= 57344.0f) return sign | 0x7b;
  if (size < 0.00006103515625f) return sign | u8(rintf(size * 65536.0f));
  const u32 rounded = (bits & 0x7fffffff) + 0xfffff + ((bits >> 21) & 1);
  return sign | u8((rounded >> 21) - (112 << 2));
}

template <class R>
__device__ inline R load_real(int type, u64 base, i64 index) {
  switch (type) {
    case kR32F: return R(((const float*)base)[index]);
    case kR64F: return R(((const double*)base)[index]);
    case kR16F: return R(half_to_float(((const u16*)base)[index]));
    case kR16BF: return R(bfloat_to_float(((const u16*)base)[index]));
    case kR8I: return R(((const signed char*)base)[index]);
    case kR8U: return R(((const u8*)base)[index]);
    case kR32I: return R(((const int*)base)[index]);
    case kE4M3: return R(e4m3_to_float(((const u8*)base)[index]));
    default: return R(half_to_float(u16(((const u8*)base)[index] << 8)));
  }
}

/// Integers are rounded to the nearest; those of 8 bits saturate, those of 32 wrap.
template <class R>
__device__ inline void store_real(int type, u64 base, i64 index, R value) {
  switch (type) {
    case kR32F: ((float*)base)[index] = float(value); break;
    case kR64F: ((double*)base)[index] = double(value); break;
    case kR16F: ((u16*)base)[index] = float_to_half(float(value)); break;
    case kR16BF: ((u16*)base)[index] = float_to_bfloat(float(value)); break;
    case kR8I: ((signed char*)base)[index] = (signed char)(fmin(fmax(rint(double(value)), -128.0), 127.0)); break;
    case kR8U: ((u8*)base)[index] = u8(fmin(fmax(rint(double(value)), 0.0), 255.0)); break;
    case kR32I: ((int*)base)[index] = int(i64(rint(double(value)))); break;
    case kE4M3: ((u8*)base)[index] = float_to_e4m3(float(value)); break;
    default: ((u8*)base)[index] = float_to_e5m2(float(value)); break;
  }
}
