// The approximate instructions of PTX, whose error bounds the manual gives.
#define INDEX() (blockIdx.x * blockDim.x + threadIdx.x)
typedef unsigned int u32;

#define UNARY_KERNEL(name, instruction)                                              \
  extern "C" __global__ void name(const float* a, float* out, u32 n) {               \
    const u32 i = INDEX();                                                           \
    if (i >= n) return;                                                              \
    float plain, flushed;                                                            \
    asm volatile(instruction ".approx.f32 %0, %1;" : "=f"(plain) : "f"(a[i]));       \
    asm volatile(instruction ".approx.ftz.f32 %0, %1;" : "=f"(flushed) : "f"(a[i])); \
    out[2 * i + 0] = plain;                                                          \
    out[2 * i + 1] = flushed;                                                        \
  }

UNARY_KERNEL(approx_rcp, "rcp")
UNARY_KERNEL(approx_sqrt, "sqrt")
UNARY_KERNEL(approx_rsqrt, "rsqrt")
UNARY_KERNEL(approx_sin, "sin")
UNARY_KERNEL(approx_cos, "cos")
UNARY_KERNEL(approx_lg2, "lg2")
UNARY_KERNEL(approx_ex2, "ex2")

extern "C" __global__ void approx_div(const float* a, const float* b, float* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  float approximate, full;
  asm volatile("div.approx.f32 %0, %1, %2;" : "=f"(approximate) : "f"(a[i]), "f"(b[i]));
  asm volatile("div.full.f32 %0, %1, %2;" : "=f"(full) : "f"(a[i]), "f"(b[i]));
  out[2 * i + 0] = approximate;
  out[2 * i + 1] = full;
}

extern "C" __global__ void approx_tanh(const float* a, float* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  float result;
  asm volatile("tanh.approx.f32 %0, %1;" : "=f"(result) : "f"(a[i]));
  out[i] = result;
}
