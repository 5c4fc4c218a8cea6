// Conversions in every rounding mode; each result is stored as 64 bits.
#define INDEX() (blockIdx.x * blockDim.x + threadIdx.x)
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;

#define FOUR_MODES(index, call, type, value)               \
  out[count * i + index + 0] = (u64)(type)call##rn(value); \
  out[count * i + index + 1] = (u64)(type)call##rz(value); \
  out[count * i + index + 2] = (u64)(type)call##rd(value); \
  out[count * i + index + 3] = (u64)(type)call##ru(value)

extern "C" __global__ void f32_to_integer(const float* a, u64* out, u32 n) {
  const u32 i = INDEX(), count = 16;
  if (i >= n) return;
  FOUR_MODES(0, __float2int_, s64, a[i]);
  FOUR_MODES(4, __float2uint_, u64, a[i]);
  FOUR_MODES(8, __float2ll_, s64, a[i]);
  FOUR_MODES(12, __float2ull_, u64, a[i]);
}

extern "C" __global__ void f64_to_integer(const double* a, u64* out, u32 n) {
  const u32 i = INDEX(), count = 16;
  if (i >= n) return;
  FOUR_MODES(0, __double2int_, s64, a[i]);
  FOUR_MODES(4, __double2uint_, u64, a[i]);
  FOUR_MODES(8, __double2ll_, s64, a[i]);
  FOUR_MODES(12, __double2ull_, u64, a[i]);
}

#define FOUR_FLOATS(index, call, value)                          \
  out[count * i + index + 0] = __float_as_uint(call##rn(value)); \
  out[count * i + index + 1] = __float_as_uint(call##rz(value)); \
  out[count * i + index + 2] = __float_as_uint(call##rd(value)); \
  out[count * i + index + 3] = __float_as_uint(call##ru(value))

extern "C" __global__ void integer_to_f32(const u64* a, u64* out, u32 n) {
  const u32 i = INDEX(), count = 16;
  if (i >= n) return;
  FOUR_FLOATS(0, __int2float_, (int)a[i]);
  FOUR_FLOATS(4, __uint2float_, (u32)a[i]);
  FOUR_FLOATS(8, __ll2float_, (s64)a[i]);
  FOUR_FLOATS(12, __ull2float_, a[i]);
}

#define FOUR_DOUBLES(index, call, value)                                   \
  out[count * i + index + 0] = (u64)__double_as_longlong(call##rn(value)); \
  out[count * i + index + 1] = (u64)__double_as_longlong(call##rz(value)); \
  out[count * i + index + 2] = (u64)__double_as_longlong(call##rd(value)); \
  out[count * i + index + 3] = (u64)__double_as_longlong(call##ru(value))

extern "C" __global__ void integer_to_f64(const u64* a, u64* out, u32 n) {
  const u32 i = INDEX(), count = 10;
  if (i >= n) return;
  out[count * i + 0] = (u64)__double_as_longlong((double)(int)a[i]);
  out[count * i + 1] = (u64)__double_as_longlong((double)(u32)a[i]);
  FOUR_DOUBLES(2, __ll2double_, (s64)a[i]);
  FOUR_DOUBLES(6, __ull2double_, a[i]);
}

extern "C" __global__ void f64_to_f32(const double* a, u64* out, u32 n) {
  const u32 i = INDEX(), count = 4;
  if (i >= n) return;
  FOUR_FLOATS(0, __double2float_, a[i]);
}

extern "C" __global__ void f32_to_f64(const float* a, double* out, u32 n) {
  const u32 i = INDEX();
  if (i < n) out[i] = a[i];
}

// The bits of NaNs that are converted after the arithmetic that made or read them.
extern "C" __global__ void nans_from_and_to_f64(float zero, double wide_zero, u64* out) {
  const float nan = zero / zero;
  const double wide_nan = wide_zero / wide_zero;
  out[0] = __double_as_longlong((double)nan);
  out[1] = __float_as_uint((float)wide_nan);
  out[2] = __double_as_longlong((double)(float)wide_nan);
  out[3] = __double_as_longlong(rint(wide_nan));
  out[4] = __double_as_longlong((double)nan + 1.0);
  out[5] = __float_as_uint((float)wide_nan * 2.0f);
}

extern "C" __global__ void integer_widths(const u64* a, u64* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[8 * i + 0] = (u64)(s64)(signed char)a[i];
  out[8 * i + 1] = (u64)(unsigned char)a[i];
  out[8 * i + 2] = (u64)(s64)(short)a[i];
  out[8 * i + 3] = (u64)(unsigned short)a[i];
  out[8 * i + 4] = (u64)(s64)(int)a[i];
  out[8 * i + 5] = (u64)(u32)a[i];
  out[8 * i + 6] = (u64)(u32)(int)(signed char)(a[i] >> 13);
  out[8 * i + 7] = (u64)(unsigned short)(short)(signed char)(a[i] >> 29);
}

// Small integers to floats and back, the way image code does it.
extern "C" __global__ void pixels(const unsigned char* in, unsigned char* out, float gain, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  const float value = (float)in[i] * gain + 0.5f;
  out[i] = (unsigned char)fminf(fmaxf(value, 0.0f), 255.0f);
}

extern "C" __global__ void short_audio(const short* in, short* out, float gain, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  const int value = __float2int_rn((float)in[i] * gain);
  out[i] = (short)min(max(value, -32768), 32767);
}
