// Accesses to memory that a kernel does not have.

KERNEL memory_store_past_end(int* a, int* b, int n) { a[I + 600] = 1; }
KERNEL sound_memory_store_past_end(int* a, int* b, int n) {
  if (I + 600 < 1024) a[I + 600] = 1;
}

KERNEL memory_load_before_begin(int* a, int* b, int n) { b[I] = a[static_cast<int>(I) - 1]; }
KERNEL sound_memory_load_before_begin(int* a, int* b, int n) {
  b[I] = I == 0 ? 0 : a[static_cast<int>(I) - 1];
}

KERNEL memory_indirect(int* a, int* b, int n) {
  const int index = a[I] + (I == 77 ? 1 << 20 : 0);
  b[I] = a[index];
}
KERNEL sound_memory_indirect(int* a, int* b, int n) {
  const int index = a[I] + (I == 77 ? 1 << 20 : 0);
  b[I] = index < 1024 ? a[index] : 0;
}

KERNEL memory_atomic_past_end(int* a, int* b, int n) { atomicAdd(&a[1024], 1); }
KERNEL sound_memory_atomic_past_end(int* a, int* b, int n) { atomicAdd(&a[1023], 1); }

KERNEL memory_vector_tail(int* a, int* b, int n) {
  reinterpret_cast<int4*>(b)[T] = reinterpret_cast<int4*>(a)[T + 129];
}
KERNEL sound_memory_vector_tail(int* a, int* b, int n) {
  if (blockIdx.x == 0) reinterpret_cast<int4*>(b)[T] = reinterpret_cast<int4*>(a)[T + 128];
}

KERNEL memory_misaligned(int* a, int* b, int n) {
  b[I] = *reinterpret_cast<int*>(reinterpret_cast<char*>(a) + 2 * T);
}
KERNEL sound_memory_misaligned(int* a, int* b, int n) {
  b[I] = *reinterpret_cast<int*>(reinterpret_cast<char*>(a) + 4 * T);
}

KERNEL memory_shared_past_end(int* a, int* b, int n) {
  __shared__ int s[128];
  s[T + n / 512] = 1;
  __syncthreads();
  b[I] = s[T];
}
KERNEL sound_memory_shared_past_end(int* a, int* b, int n) {
  __shared__ int s[129];
  s[T + n / 512] = 1;
  __syncthreads();
  b[I] = s[T + 1];
}

KERNEL memory_freed(int* a, int* b, int n) {
  int* const p = reinterpret_cast<int*>(static_cast<size_t>(n));
  p[T] = 1;
}
KERNEL sound_memory_freed(int* a, int* b, int n) {
  int* const p = static_cast<int*>(malloc(512));
  p[T] = 1;
  free(p);
}

// Accesses at constant distances, of which the first one's test may do for all.
KERNEL memory_last_of_three(int* a, int* b, int n) {
  b[I] = a[I] + 2 * a[I + 256] + 3 * a[I + 513];
}
KERNEL sound_memory_last_of_three(int* a, int* b, int n) {
  b[I] = a[I] + 2 * a[I + 256] + 3 * a[I + 512];
}

KERNEL memory_first_of_three_indirect(int* a, int* b, int n) {
  const int index = a[I] + static_cast<int>(I);
  b[I] = a[index + 8] + 2 * a[index + 4] + 3 * a[index - 1];
}
KERNEL sound_memory_first_of_three_indirect(int* a, int* b, int n) {
  const int index = a[I] + static_cast<int>(I);
  b[I] = a[index + 8] + 2 * a[index + 4] + 3 * a[index];
}

// Memory of the heap for kernels.
KERNEL leak_of_malloc(int* a, int* b, int n) {
  int* const p = static_cast<int*>(malloc(8));
  p[0] = T;
  b[I] = p[0];
  if (T % 2 == 0) free(p);
}
KERNEL sound_leak_of_malloc(int* a, int* b, int n) {
  int* const p = static_cast<int*>(malloc(8));
  p[0] = T;
  b[I] = p[0];
  free(p);
}
extern "C" __device__ int cudaMalloc(void** block, size_t size_bytes);
extern "C" __device__ int cudaFree(void* block);
KERNEL leak_of_cudamalloc(int* a, int* b, int n) {
  int* p = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&p), 8);
  p[0] = T;
  b[I] = p[0];
  if (T % 2 == 0) cudaFree(p);
}
KERNEL sound_leak_of_cudamalloc(int* a, int* b, int n) {
  int* p = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&p), 8);
  p[0] = T;
  b[I] = p[0];
  cudaFree(p);
}
