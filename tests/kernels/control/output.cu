// printf, assert, trap and exit.
#define INDEX() (blockIdx.x * blockDim.x + threadIdx.x)
typedef unsigned int u32;
extern "C" __device__ int printf(const char*, ...);

extern "C" __global__ void print_formats(int i, unsigned long long u, double d, float f) {
  if (INDEX() != 0) return;
  printf("no arguments, 100%%\n");
  printf("%d %5d|%-5d|%05d %i\n", i, i, i, i, -i);
  printf("%u %x %X %o %#x\n", (u32)i, (u32)i, (u32)i, (u32)i, (u32)i);
  printf("%llu %lld %llx %ld\n", u, (long long)u, u, (long)i);
  printf("%f %.3f %e %g %10.2f|\n", d, d, d, d, d);
  printf("%f %a\n", f, d);
  printf("%c%c %s|%10s|%-6s|\n", 'o', 'k', "text", "right", "left");
}

extern "C" __global__ void print_from_threads(u32 n) {
  const u32 i = INDEX();
  if (i < n && i % 3 == 0) printf("thread %u of block %u\n", threadIdx.x, blockIdx.x);
}

extern "C" __global__ void print_in_loop(int* results) {
  const u32 i = INDEX();
  int sum = 0;
  for (u32 k = 0; k <= i % 4; ++k) sum += printf("%u:%u\n", i, k);
  results[i] = sum;
}

extern "C" __global__ void assert_positive(const int* in, int* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  assert(in[i] > 0);
  out[i] = in[i] * 2;
}

extern "C" __global__ void trap_on(const int* in, int* out, int bad, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  if (in[i] == bad) __trap();
  out[i] = in[i] + 1;
}

extern "C" __global__ void exit_in_function(const int* in, int* out, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  out[i] = 1;
  if (in[i] % 2 == 0) asm volatile("exit;");
  out[i] = 2;
}

extern "C" __global__ void write_far(int* out, long long distance) {
  if (INDEX() == 5) out[distance] = 1;
}

extern "C" __global__ void assert_below(unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(i < n);
}

extern "C" __global__ void assert_between_barriers(unsigned* out, unsigned n) {
  __shared__ unsigned row[128];
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  row[threadIdx.x] = i;
  __syncthreads();
  unsigned value = row[threadIdx.x ^ 1];
  assert(value < n);
  __syncthreads();
  row[threadIdx.x] = value + 1;
  __syncthreads();
  printf("after\n");
  out[i] = row[threadIdx.x ^ 2];
}

extern "C" __global__ void assert_in_loop(const unsigned* limits, unsigned steps) {
  for (unsigned k = 0; k < steps; ++k) {
    assert(threadIdx.x < limits[k]);
    __syncwarp();
  }
}

// The thread that the others wait for never comes to the flag.
extern "C" __global__ void assert_before_flag(volatile unsigned* flag, unsigned n) {
  if (threadIdx.x == 0) {
    assert(n == 0);
    *flag = 1;
  }
  while (*flag == 0) {
  }
}
