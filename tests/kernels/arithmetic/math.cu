// CUDA's math library: long straight-line code, table look-ups in local memory (large arguments of
// the trigonometric functions), divergent slow paths. Results go to column k of `out`.
#define INDEX() (blockIdx.x * blockDim.x + threadIdx.x)
typedef unsigned int u32;

extern "C" __global__ void f32_trigonometric(const float* a, float* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[0 * n + i] = sinf(a[i]);
  out[1 * n + i] = cosf(a[i]);
  out[2 * n + i] = tanf(a[i]);
  out[3 * n + i] = atanf(a[i]);
}

extern "C" __global__ void f32_inverse_trigonometric(const float* a, const float* b, float* out,
                                                     u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[0 * n + i] = asinf(a[i]);
  out[1 * n + i] = acosf(a[i]);
  out[2 * n + i] = atan2f(a[i], b[i]);
}

extern "C" __global__ void f32_exponential(const float* a, float* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[0 * n + i] = expf(a[i]);
  out[1 * n + i] = exp2f(a[i]);
  out[2 * n + i] = exp10f(a[i]);
  out[3 * n + i] = expm1f(a[i]);
  out[4 * n + i] = sinhf(a[i]);
  out[5 * n + i] = coshf(a[i]);
  out[6 * n + i] = tanhf(a[i]);
}

extern "C" __global__ void f32_logarithm(const float* a, float* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[0 * n + i] = logf(a[i]);
  out[1 * n + i] = log2f(a[i]);
  out[2 * n + i] = log10f(a[i]);
  out[3 * n + i] = log1pf(a[i]);
  out[4 * n + i] = cbrtf(a[i]);
  out[5 * n + i] = rsqrtf(a[i]);
}

extern "C" __global__ void f32_special(const float* a, float* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[0 * n + i] = erff(a[i]);
  out[1 * n + i] = erfcf(a[i]);
  out[2 * n + i] = tgammaf(a[i]);
}

extern "C" __global__ void f32_power(const float* a, const float* b, float* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[0 * n + i] = powf(a[i], b[i]);
  out[1 * n + i] = hypotf(a[i], b[i]);
}

extern "C" __global__ void f32_sincos(const float* a, float* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  float s, c;
  sincosf(a[i], &s, &c);
  out[0 * n + i] = s;
  out[1 * n + i] = c;
}

extern "C" __global__ void f64_trigonometric(const double* a, double* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[0 * n + i] = sin(a[i]);
  out[1 * n + i] = cos(a[i]);
  out[2 * n + i] = tan(a[i]);
  out[3 * n + i] = atan(a[i]);
}

extern "C" __global__ void f64_exponential(const double* a, double* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[0 * n + i] = exp(a[i]);
  out[1 * n + i] = expm1(a[i]);
  out[2 * n + i] = sinh(a[i]);
  out[3 * n + i] = tanh(a[i]);
}

extern "C" __global__ void f64_logarithm(const double* a, double* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[0 * n + i] = log(a[i]);
  out[1 * n + i] = log1p(a[i]);
  out[2 * n + i] = cbrt(a[i]);
  out[3 * n + i] = rsqrt(a[i]);
}

extern "C" __global__ void f64_special(const double* a, double* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[0 * n + i] = erf(a[i]);
  out[1 * n + i] = erfc(a[i]);
  out[2 * n + i] = tgamma(a[i]);
}

extern "C" __global__ void f64_power(const double* a, const double* b, double* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[0 * n + i] = pow(a[i], b[i]);
  out[1 * n + i] = hypot(a[i], b[i]);
  out[2 * n + i] = atan2(a[i], b[i]);
}
