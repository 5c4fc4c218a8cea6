// Reads of what nothing has written.

KERNEL init_shared_of_later_block(int* a, int* b, int n) {
  __shared__ int s[128];
  if (blockIdx.x == 0) s[T] = a[I] = T;
  __syncthreads();
  b[I] = s[127 - T] * 2;
}
KERNEL sound_init_shared_of_later_block(int* a, int* b, int n) {
  __shared__ int s[128];
  s[T] = a[I] = T;
  __syncthreads();
  b[I] = s[127 - T] * 2;
}

KERNEL init_shared(int* a, int* b, int n) {
  __shared__ int s[128];
  if (n == 0) s[T] = 0;
  b[I] = s[T] + 1;
}
KERNEL sound_init_shared(int* a, int* b, int n) {
  __shared__ int s[128];
  s[T] = 0;
  b[I] = s[T] + 1;
}

KERNEL init_half_of_shared(int* a, int* b, int n) {
  __shared__ int s[128];
  if (T < 64) s[T] = T;
  __syncthreads();
  b[I] = s[127 - T] + 1;
}
KERNEL sound_init_half_of_shared(int* a, int* b, int n) {
  __shared__ int s[128];
  if (T < 64) s[T] = T;
  if (T >= 64) s[T] = 0;
  __syncthreads();
  b[I] = s[127 - T] + 1;
}

KERNEL init_atomic(int* a, int* b, int n) {
  __shared__ int count;
  atomicAdd(&count, 1);
  __syncthreads();
  b[I] = count;
}
KERNEL sound_init_atomic(int* a, int* b, int n) {
  __shared__ int count;
  if (T == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, 1);
  __syncthreads();
  b[I] = count;
}

KERNEL init_memory_of_malloc(int* a, int* b, int n) {
  int* const p = static_cast<int*>(malloc(8));
  p[0] = 1;
  b[I] = p[0] + p[1];
  free(p);
}
KERNEL sound_init_memory_of_malloc(int* a, int* b, int n) {
  int* const p = static_cast<int*>(malloc(8));
  p[0] = 1;
  p[1] = 2;
  b[I] = p[0] + p[1];
  free(p);
}

struct Padded {
  char flag;
  int number;
};
KERNEL init_field(int* a, int* b, int n) {
  __shared__ Padded s[128];
  s[T].flag = 1;
  __syncthreads();
  b[I] = s[127 - T].flag + s[127 - T].number;
}
// A copy of a structure reads its padding, which nobody has written.
KERNEL sound_init_field(int* a, int* b, int n) {
  __shared__ Padded s[128], t[128];
  s[T].flag = 1;
  s[T].number = T;
  __syncthreads();
  t[T] = s[127 - T];
  __syncthreads();
  b[I] = t[T].flag + t[T].number;
}
