// Functions that call themselves, and each other.
#define INDEX() (blockIdx.x * blockDim.x + threadIdx.x)
typedef unsigned int u32;

__device__ __noinline__ u32 fibonacci(u32 n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ __noinline__ u32 ackermann(u32 m, u32 n) {
  if (m == 0) return n + 1;
  return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

extern "C" __global__ void recursion(u32* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[2 * i + 0] = fibonacci(i % 15);
  out[2 * i + 1] = ackermann(i % 3, i % 5);
}

__device__ __noinline__ bool is_even(u32 n);
__device__ __noinline__ bool is_odd(u32 n) { return n == 0 ? false : is_even(n - 1); }
__device__ __noinline__ bool is_even(u32 n) { return n == 0 ? true : is_odd(n - 1); }

extern "C" __global__ void mutual_recursion(u32* out, u32 n) {
  const u32 i = INDEX();
  if (i < n) out[i] = (is_even(i % 23) ? 1 : 0) | (is_odd(i % 17) ? 2 : 0);
}
