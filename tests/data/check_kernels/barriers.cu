// Barriers and member masks.

KERNEL sync_barrier_in_branch(int* a, int* b, int n) {
  if (T < 64) __syncthreads();
  b[I] = T;
}
KERNEL sound_sync_barrier_in_branch(int* a, int* b, int n) {
  if (blockIdx.x < 2) __syncthreads();
  b[I] = T;
}

KERNEL sync_lanes_in_branch(int* a, int* b, int n) {
  if (T % 2 == 0) __syncthreads();
  b[I] = T;
}
KERNEL sound_sync_lanes_in_branch(int* a, int* b, int n) {
  if (T % 2 == 0) b[I] = T;
  __syncthreads();
}

KERNEL sync_early_return(int* a, int* b, int n) {
  if (I >= 500) return;
  __syncthreads();
  b[I] = T;
}
KERNEL sound_sync_early_return(int* a, int* b, int n) {
  __syncthreads();
  if (I >= 500) return;
  b[I] = T;
}

KERNEL sync_two_barriers(int* a, int* b, int n) {
  if (T < 64) {
    a[I] = 1;
    __syncthreads();
  } else {
    a[I] = 2;
    __syncthreads();
    b[I] = 2;
  }
}
KERNEL sound_sync_two_barriers(int* a, int* b, int n) {
  if (n > 0) {
    a[I] = 1;
    __syncthreads();
  } else {
    a[I] = 2;
    __syncthreads();
    b[I] = 2;
  }
}

KERNEL sync_uneven_rounds(int* a, int* b, int n) {
  for (unsigned k = 0; k < T / 32; ++k) __syncthreads();
  b[I] = T;
}
KERNEL sound_sync_uneven_rounds(int* a, int* b, int n) {
  for (unsigned k = 0; k < blockIdx.x; ++k) __syncthreads();
  b[I] = T;
}

KERNEL sync_different_counts(int* a, int* b, int n) {
  if (T < 32) {
    asm volatile("bar.sync 1, 128;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 96;" ::: "memory");
  }
}
KERNEL sound_sync_different_counts(int* a, int* b, int n) {
  if (T < 64) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 2, 64;" ::: "memory");
  }
}

KERNEL sync_not_in_the_mask(int* a, int* b, int n) { b[I] = __shfl_sync(0xffff, T, 0); }
KERNEL sound_sync_not_in_the_mask(int* a, int* b, int n) {
  if (T % 32 < 16) b[I] = __shfl_sync(0xffff, T, 0);
}

KERNEL sync_mask_of_another_lane(int* a, int* b, int n) { __syncwarp(1u << (T + 1) % 32); }
KERNEL sound_sync_mask_of_another_lane(int* a, int* b, int n) { __syncwarp(1u << T % 32); }

// Ends long before its 10^10 accesses: a launch with a million invalid ones is a fault.
KERNEL memory_without_end(int* a, int* b, int n) {
  for (long k = 0; k < 10000000000; ++k) a[1024 + (k & 1023)] = 1;
}
