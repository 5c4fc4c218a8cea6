// Floating-point arithmetic that PTX defines to the bit. Compiled without contraction: fused
// operations are written out.
#define INDEX() (blockIdx.x * blockDim.x + threadIdx.x)
typedef unsigned int u32;
typedef unsigned long long u64;

extern "C" __global__ void f32_arithmetic(const float* a, const float* b, float* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[6 * i + 0] = a[i] + b[i];
  out[6 * i + 1] = a[i] - b[i];
  out[6 * i + 2] = a[i] * b[i];
  out[6 * i + 3] = fmaf(a[i], b[i], b[i]);
  out[6 * i + 4] = a[i] / b[i];
  out[6 * i + 5] = sqrtf(a[i]);
}

extern "C" __global__ void f64_arithmetic(const double* a, const double* b, double* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[6 * i + 0] = a[i] + b[i];
  out[6 * i + 1] = a[i] - b[i];
  out[6 * i + 2] = a[i] * b[i];
  out[6 * i + 3] = fma(a[i], b[i], b[i]);
  out[6 * i + 4] = a[i] / b[i];
  out[6 * i + 5] = sqrt(a[i]);
}

#define FOUR_MODES(index, call, ...)                  \
  out[count * i + index + 0] = call##rn(__VA_ARGS__); \
  out[count * i + index + 1] = call##rz(__VA_ARGS__); \
  out[count * i + index + 2] = call##rd(__VA_ARGS__); \
  out[count * i + index + 3] = call##ru(__VA_ARGS__)

extern "C" __global__ void f32_rounding(const float* a, const float* b, const float* c, float* out,
                                        u32 n) {
  const u32 i = INDEX(), count = 16;
  if (i >= n) return;
  FOUR_MODES(0, __fadd_, a[i], b[i]);
  FOUR_MODES(4, __fsub_, a[i], b[i]);
  FOUR_MODES(8, __fmul_, a[i], b[i]);
  FOUR_MODES(12, __fmaf_, a[i], b[i], c[i]);
}

// Sums that are integers from 2^23 to 2^24, as CUDA's exponentials begin, and some that just are
// not.
extern "C" __global__ void f32_integer_sums(const float* a, float* out, u32 n) {
  const u32 i = INDEX(), count = 29;
  if (i >= n) return;
  const float x = __saturatef(a[i]);
  FOUR_MODES(0, __fmaf_, x, 252.0f, 12582913.0f);
  FOUR_MODES(4, __fmaf_, 1.0f, x, 8388608.0f);
  FOUR_MODES(8, __fmaf_, x, 255.0f, 16776960.0f);
  FOUR_MODES(12, __fmaf_, x, 256.0f, 16776960.0f);
  FOUR_MODES(16, __fmaf_, x, 0.5f, 8388608.0f);
  FOUR_MODES(20, __fmaf_, x, 252.0f, 8388607.5f);
  FOUR_MODES(24, __fmaf_, a[i], 252.0f, 12582913.0f);
  float flushed;
  asm("{ .reg .f32 s; cvt.sat.ftz.f32.f32 s, %1; fma.rm.ftz.f32 %0, s, 0f437C0000, 0f4B400001; }"
      : "=f"(flushed)
      : "f"(a[i]));
  out[count * i + 28] = flushed;
}

extern "C" __global__ void f32_rounding_division(const float* a, const float* b, float* out,
                                                 u32 n) {
  const u32 i = INDEX(), count = 12;
  if (i >= n) return;
  FOUR_MODES(0, __fdiv_, a[i], b[i]);
  FOUR_MODES(4, __frcp_, a[i]);
  FOUR_MODES(8, __fsqrt_, a[i]);
}

extern "C" __global__ void f64_rounding(const double* a, const double* b, const double* c,
                                        double* out, u32 n) {
  const u32 i = INDEX(), count = 16;
  if (i >= n) return;
  FOUR_MODES(0, __dadd_, a[i], b[i]);
  FOUR_MODES(4, __dsub_, a[i], b[i]);
  FOUR_MODES(8, __dmul_, a[i], b[i]);
  FOUR_MODES(12, __fma_, a[i], b[i], c[i]);
}

extern "C" __global__ void f64_rounding_division(const double* a, const double* b, double* out,
                                                 u32 n) {
  const u32 i = INDEX(), count = 12;
  if (i >= n) return;
  FOUR_MODES(0, __ddiv_, a[i], b[i]);
  FOUR_MODES(4, __drcp_, a[i]);
  FOUR_MODES(8, __dsqrt_, a[i]);
}

extern "C" __global__ void f32_minmax(const float* a, const float* b, float* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[4 * i + 0] = fminf(a[i], b[i]);
  out[4 * i + 1] = fmaxf(a[i], b[i]);
  out[4 * i + 2] = fminf(fmaxf(a[i], -1.0f), 1.0f);
  out[4 * i + 3] = __saturatef(a[i]);
}

extern "C" __global__ void f64_minmax(const double* a, const double* b, double* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[2 * i + 0] = fmin(a[i], b[i]);
  out[2 * i + 1] = fmax(a[i], b[i]);
}

#define RELATIONS(x, y)                                                                     \
  ((x) < (y) ? 1 : 0) | ((x) <= (y) ? 2 : 0) | ((x) > (y) ? 4 : 0) | ((x) >= (y) ? 8 : 0) | \
      ((x) == (y) ? 16 : 0) | ((x) != (y) ? 32 : 0) | (!((x) < (y)) ? 64 : 0) |             \
      (!((x) >= (y)) ? 128 : 0) | ((x) != (x) || (y) != (y) ? 256 : 0)

extern "C" __global__ void float_compare(const float* a, const float* b, const double* c,
                                         const double* d, u32* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[2 * i + 0] = RELATIONS(a[i], b[i]);
  out[2 * i + 1] = RELATIONS(c[i], d[i]);
}

extern "C" __global__ void f32_signs(const float* a, const float* b, float* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[4 * i + 0] = fabsf(a[i]);
  out[4 * i + 1] = -a[i];
  out[4 * i + 2] = copysignf(a[i], b[i]);
  out[4 * i + 3] = signbit(a[i]) ? 1.0f : 2.0f;
}

extern "C" __global__ void f32_integral(const float* a, float* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[5 * i + 0] = rintf(a[i]);
  out[5 * i + 1] = floorf(a[i]);
  out[5 * i + 2] = ceilf(a[i]);
  out[5 * i + 3] = truncf(a[i]);
  out[5 * i + 4] = roundf(a[i]);
}

extern "C" __global__ void f64_integral(const double* a, double* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[5 * i + 0] = rint(a[i]);
  out[5 * i + 1] = floor(a[i]);
  out[5 * i + 2] = ceil(a[i]);
  out[5 * i + 3] = trunc(a[i]);
  out[5 * i + 4] = round(a[i]);
}

// Library functions that are exact by definition; they come as loops and bit tricks.
extern "C" __global__ void f32_exact_functions(const float* a, const float* b, float* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  int exponent = 0;
  out[6 * i + 0] = fmodf(a[i], b[i]);
  out[6 * i + 1] = remainderf(a[i], b[i]);
  out[6 * i + 2] = ldexpf(a[i], (int)(__float_as_uint(b[i]) & 511) - 256);
  out[6 * i + 3] = frexpf(a[i], &exponent) + (float)exponent;
  out[6 * i + 4] = nextafterf(a[i], b[i]);
  out[6 * i + 5] = fdimf(a[i], b[i]);
}

extern "C" __global__ void f32_classify(const float* a, u32* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  const float x = a[i];
  out[i] = (isnan(x) ? 1 : 0) | (isinf(x) ? 2 : 0) | (isfinite(x) ? 4 : 0) |
           (x != 0.0f && fabsf(x) < 1.17549435e-38f ? 8 : 0) | (x == 0.0f ? 16 : 0);
}

// Chains of fused multiply-adds, and compensated sums whose error terms must not be optimised away.
extern "C" __global__ void f32_horner(const float* x, const float* coefficients, int degree,
                                      float* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  float sum = coefficients[degree];
  for (int k = degree - 1; k >= 0; --k) sum = fmaf(sum, x[i], coefficients[k]);
  out[i] = sum;
}

extern "C" __global__ void f32_kahan(const float* data, u32 length, float* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  float sum = 0.0f, lost = 0.0f;
  for (u32 k = 0; k < length; ++k) {
    const float y = data[k * n + i] - lost;
    const float t = sum + y;
    lost = (t - sum) - y;
    sum = t;
  }
  out[2 * i + 0] = sum;
  out[2 * i + 1] = lost;
}

// Double-float product and sum: exact only when no operation is contracted or reassociated.
extern "C" __global__ void f32_two_product(const float* a, const float* b, float* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  const float p = a[i] * b[i];
  const float e = fmaf(a[i], b[i], -p);
  const float s = a[i] + b[i];
  const float bb = s - a[i];
  const float t = (a[i] - (s - bb)) + (b[i] - bb);
  out[4 * i + 0] = p;
  out[4 * i + 1] = e;
  out[4 * i + 2] = s;
  out[4 * i + 3] = t;
}
