// Shared memory, between the lanes of a warp.

KERNEL race_lanes_in_step(int* a, int* b, int n) {
  __shared__ int s[128];
  s[T] = a[I];
  b[I] = s[T ^ 1];
}
KERNEL sound_race_lanes_in_step(int* a, int* b, int n) {
  __shared__ int s[128];
  s[T] = a[I];
  __syncwarp();
  b[I] = s[T ^ 1];
}

KERNEL race_volatile_lanes_in_step(int* a, int* b, int n) {
  __shared__ int s[128];
  volatile int* v = s;
  v[T] = a[I];
  b[I] = v[T ^ 1];
}
KERNEL sound_race_volatile_lanes_in_step(int* a, int* b, int n) {
  __shared__ int s[128];
  volatile int* v = s;
  v[T] = a[I];
  __syncwarp();
  b[I] = v[T ^ 1];
}

// The end of a reduction as programs wrote it when the lanes of a warp ran in step.
KERNEL race_reduction_in_step(int* a, int* b, int n) {
  __shared__ int s[128];
  s[T] = n + a[I] + T;
  __syncthreads();
  if (T < 64) s[T] += s[T + 64];
  __syncthreads();
  volatile int* v = s;
  if (T < 32) {
    v[T] += v[T + 32];
    v[T] += v[T + 16];
    v[T] += v[T + 8];
    v[T] += v[T + 4];
    v[T] += v[T + 2];
    v[T] += v[T + 1];
  }
  if (T == 0) b[blockIdx.x] = s[0];
}
KERNEL sound_race_reduction_in_step(int* a, int* b, int n) {
  __shared__ int s[128];
  s[T] = n + a[I] + T;
  __syncthreads();
  if (T < 64) s[T] += s[T + 64];
  __syncthreads();
  if (T < 32) {
    int sum = s[T] + s[T + 32];
    for (int k = 16; k > 0; k /= 2) sum += __shfl_down_sync(~0u, sum, k);
    if (T == 0) b[blockIdx.x] = sum;
  }
}

KERNEL race_fenced_lanes_in_step(int* a, int* b, int n) {
  __shared__ int s[128];
  s[T] = n + a[I] + T;
  __syncthreads();
  for (int k = 1; k < 32; k *= 2) {
    const int other = s[T ^ k];
    asm volatile("" ::: "memory");
    s[T] += other;
    asm volatile("" ::: "memory");
  }
  b[I] = s[T];
}
KERNEL sound_race_fenced_lanes_in_step(int* a, int* b, int n) {
  __shared__ int s[128];
  s[T] = n + a[I] + T;
  __syncthreads();
  for (int k = 1; k < 32; k *= 2) {
    const int other = s[T ^ k];
    __syncwarp();
    s[T] += other;
    __syncwarp();
  }
  b[I] = s[T];
}

KERNEL race_shuffle_orders_nothing(int* a, int* b, int n) {
  __shared__ int s[128];
  s[T] = a[I];
  const int other = __shfl_xor_sync(~0u, T, 1);
  b[I] = s[other];
}
KERNEL sound_race_shuffle_orders_nothing(int* a, int* b, int n) {
  __shared__ int s[128];
  s[T] = a[I];
  const int other = __shfl_xor_sync(~0u, T, 1);
  __syncwarp();
  b[I] = s[other];
}

KERNEL race_half_a_warp_meets(int* a, int* b, int n) {
  __shared__ int s[128];
  s[T] = a[I];
  if (T % 32 < 16) {
    __syncwarp(0xffff);
  } else {
    __syncwarp(0xffff0000);
  }
  b[I] = s[T ^ 16];
}
KERNEL sound_race_half_a_warp_meets(int* a, int* b, int n) {
  __shared__ int s[128];
  s[T] = a[I];
  if (T % 32 < 16) {
    __syncwarp(0xffff);
  } else {
    __syncwarp(0xffff0000);
  }
  b[I] = s[T ^ 1];
}

KERNEL race_one_lane_writes(int* a, int* b, int n) {
  __shared__ int s[4];
  if (T % 32 == 0) s[T / 32] = a[I];
  b[I] = s[T / 32];
}
KERNEL sound_race_one_lane_writes(int* a, int* b, int n) {
  __shared__ int s[4];
  if (T % 32 == 0) s[T / 32] = a[I];
  __syncwarp();
  b[I] = s[T / 32];
}

KERNEL race_scan_of_a_warp(int* a, int* b, int n) {
  __shared__ int s[128];
  s[T] = a[I];
  for (int k = 1; k < 32; k *= 2) {
    const int other = T % 32 >= k ? s[T - k] : 0;
    __syncwarp();
    s[T] += other;
  }
  b[I] = s[T];
}
KERNEL sound_race_scan_of_a_warp(int* a, int* b, int n) {
  __shared__ int s[128];
  s[T] = a[I];
  for (int k = 1; k < 32; k *= 2) {
    __syncwarp();
    const int other = T % 32 >= k ? s[T - k] : 0;
    __syncwarp();
    s[T] += other;
  }
  b[I] = s[T];
}
