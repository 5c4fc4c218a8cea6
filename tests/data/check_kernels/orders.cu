// Results that depend on the order of threads, though atomics make each access sound.

KERNEL schedule_last_writer(int* a, int* b, int n) { atomicExch(b, I + 1); }
KERNEL sound_schedule_last_writer(int* a, int* b, int n) { atomicMax(b, I + 1); }

KERNEL schedule_tickets(int* a, int* b, int n) { b[atomicAdd(a, 1)] = I; }
KERNEL sound_schedule_tickets(int* a, int* b, int n) {
  const int ticket = atomicAdd(a, 1);
  b[I] = ticket >= 0 && ticket < n;
}

KERNEL schedule_tickets_of_a_block(int* a, int* b, int n) {
  __shared__ int next;
  if (T == 0) next = 0;
  __syncthreads();
  b[blockIdx.x * blockDim.x + atomicAdd(&next, 1)] = T;
}
KERNEL sound_schedule_tickets_of_a_block(int* a, int* b, int n) {
  __shared__ int sum;
  if (T == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, T);
  __syncthreads();
  b[I] = sum;
}

KERNEL schedule_lanes_of_a_warp(int* a, int* b, int n) {
  __shared__ int last[4];
  if (T % 32 == 0) last[T / 32] = 0;
  __syncwarp();
  atomicExch(&last[T / 32], T);
  __syncthreads();
  b[I] = last[T / 32];
}
KERNEL sound_schedule_lanes_of_a_warp(int* a, int* b, int n) {
  __shared__ int last[4];
  if (T % 32 == 0) last[T / 32] = 0;
  __syncwarp();
  atomicMax(&last[T / 32], T);
  __syncthreads();
  b[I] = last[T / 32];
}

KERNEL schedule_first_come(int* a, int* b, int n) {
  if (atomicCAS(a, 0, 1) == 0) b[0] = I;
}
KERNEL sound_schedule_first_come(int* a, int* b, int n) {
  if (atomicCAS(a, 0, 1) == 0) b[0] = n;
}

KERNEL schedule_float_sum(int* a, int* b, int n) { atomicAdd((float*)b, 1.0f / (I + 3)); }
KERNEL sound_schedule_float_sum(int* a, int* b, int n) { atomicAdd((float*)b, 0.5f * I); }

KERNEL schedule_trap(int* a, int* b, int n) {
  if (atomicAdd(a, 1) == 0 && I != 0) asm volatile("trap;");
}
KERNEL sound_schedule_trap(int* a, int* b, int n) {
  if (atomicAdd(a, 1) >= n) asm volatile("trap;");
}

KERNEL schedule_outside(int* a, int* b, int n) {
  if (atomicAdd(a, 1) == 0) b[I == 0 ? 0 : 1 << 26] = 1;
}
KERNEL sound_schedule_outside(int* a, int* b, int n) {
  if (atomicAdd(a, 1) == 0) b[I < n ? 0 : 1 << 26] = 1;
}

__device__ void take(int* lock) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
}
__device__ void leave(int* lock) {
  __threadfence();
  atomicExch(lock, 0);
}
KERNEL schedule_two_locks(int* a, int* b, int n) {
  if (T != 0) return;
  const int first = blockIdx.x % 2;
  take(&a[first]);
  take(&a[1 - first]);
  b[0] += 1;
  leave(&a[1 - first]);
  leave(&a[first]);
}
KERNEL sound_schedule_two_locks(int* a, int* b, int n) {
  if (T != 0) return;
  take(&a[0]);
  take(&a[1]);
  b[0] += 1;
  leave(&a[1]);
  leave(&a[0]);
}

// For programs that need a kernel of their own.
extern "C" __global__ void other_allocates(int* a, int* b, int n) {
  int* const own = static_cast<int*>(malloc(4));
  if (own != nullptr) *own = n;
  free(own);
}
