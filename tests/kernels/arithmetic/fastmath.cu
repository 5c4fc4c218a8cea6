// Compiled with --use_fast_math: .ftz everywhere, approximate division, square root and functions.
#define INDEX() (blockIdx.x * blockDim.x + threadIdx.x)
typedef unsigned int u32;

extern "C" __global__ void flushing_arithmetic(const float* a, const float* b, float* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[6 * i + 0] = a[i] + b[i];
  out[6 * i + 1] = a[i] - b[i];
  out[6 * i + 2] = a[i] * b[i];
  out[6 * i + 3] = fmaf(a[i], b[i], b[i]);
  out[6 * i + 4] = fabsf(a[i]) + 0.0f;
  out[6 * i + 5] = fminf(a[i], b[i]);
}

extern "C" __global__ void flushing_comparisons(const float* a, const float* b, u32* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[i] = (a[i] < b[i] ? 1 : 0) | (a[i] == b[i] ? 2 : 0) | (a[i] > 0.0f ? 4 : 0) |
           (a[i] != b[i] ? 8 : 0);
}

extern "C" __global__ void fast_functions(const float* a, float* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[0 * n + i] = sinf(a[i]);
  out[1 * n + i] = cosf(a[i]);
  out[2 * n + i] = expf(a[i]);
  out[3 * n + i] = logf(fabsf(a[i]) + 1.0f);
  out[4 * n + i] = sqrtf(fabsf(a[i]));
  out[5 * n + i] = 1.0f / (a[i] + 10.0f);
}
