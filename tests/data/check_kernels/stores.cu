
// Stores of several words at once: several threads or blocks write equal values, or not.
__device__ void copy_tile_out(int* to, int value) {
  __shared__ alignas(16) int tile[128];
  tile[T] = value;
  bulk_copy_out(to, tile);
}
KERNEL race_bulk_copies_to_one_place(int* a, int* b, int n) { copy_tile_out(b, blockIdx.x); }
KERNEL sound_race_bulk_copies_to_one_place(int* a, int* b, int n) { copy_tile_out(b, 5); }

KERNEL race_bulk_copy_beside_a_store(int* a, int* b, int n) {
  if (blockIdx.x == 0) copy_tile_out(b, T);
  if (blockIdx.x != 0) b[T] = T + 1;
}
KERNEL sound_race_bulk_copy_beside_a_store(int* a, int* b, int n) {
  if (blockIdx.x == 0) copy_tile_out(b, T);
  if (blockIdx.x != 0) b[T] = T;
}

// All lanes of a warp begin the same copy, and wait for their own.
__device__ void copy_by_a_warp(int* to, int value) {
  __shared__ alignas(16) int tile[256];
  tile[T] = value;
  tile[T + 128] = value;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (T >= 32) return;
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" ::"l"(
                   __cvta_generic_to_global(to)),
               "r"(shared_address(tile + 4 * T)));
  asm volatile("cp.async.bulk.commit_group;");
}
KERNEL race_bulk_copies_of_a_warp(int* a, int* b, int n) {
  copy_by_a_warp(b + 128 * blockIdx.x, T);
}
KERNEL sound_race_bulk_copies_of_a_warp(int* a, int* b, int n) {
  copy_by_a_warp(b + 128 * blockIdx.x, 3);
}

__device__ void reduce_tile(int* to, const int* from) {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (T == 0) {
    asm volatile(
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], 512;" ::"l"(
            __cvta_generic_to_global(to)),
        "r"(shared_address(from)));
    asm volatile("cp.async.bulk.commit_group;");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
KERNEL race_bulk_reduction_beside_a_read(int* a, int* b, int n) {
  __shared__ alignas(16) int s[128];
  s[T] = T + b[T];
  reduce_tile(b, s);
}
KERNEL race_bulk_reduction_is_read(int* a, int* b, int n) {
  __shared__ alignas(16) int s[128];
  s[T] = T;
  reduce_tile(b + 128 * blockIdx.x, s);
  a[I] = b[I];
}
KERNEL sound_race_bulk_reduction(int* a, int* b, int n) {
  __shared__ alignas(16) int s[128];
  s[T] = T;
  reduce_tile(b + 128 * blockIdx.x, s);
  __syncthreads();
  a[I] = b[I];
  reduce_tile(b + 512, s);
}

__device__ void copy_word(int* to, const int* from) {
  __pipeline_memcpy_async(to, from, 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
}
KERNEL race_copies_to_one_word(int* a, int* b, int n) {
  __shared__ int s[64];
  a[I] = T;
  copy_word(&s[T / 2], &a[I]);
  b[I] = s[T % 64];
}
KERNEL sound_race_copies_to_one_word(int* a, int* b, int n) {
  __shared__ int s[64];
  a[I] = T / 2 + 1;
  copy_word(&s[T / 2], &a[I]);
  b[I] = s[T % 64];
}

// The second half of each copy is zeros. Two threads copy to one place.
__device__ void copy_half(int* a, int* b, int value) {
  __shared__ alignas(16) int s[256];
  for (int i = 0; i < 4; ++i) a[4 * T + i] = value;
  __pipeline_memcpy_async(&s[T / 2 * 4], &a[4 * T], 16, 8);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  b[T] = s[T];
}
KERNEL race_copies_of_a_half(int* a, int* b, int n) {
  if (blockIdx.x == 0) copy_half(a, b, T);
}
KERNEL sound_race_copies_of_a_half(int* a, int* b, int n) {
  if (blockIdx.x == 0) copy_half(a, b, 7);
}

// All warps store one matrix.
__device__ void store_matrix(void* place, int row, int value) {
  asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(shared_address(place) +
                                                                            16 * row),
               "r"(value)
               : "memory");
  __syncthreads();
}
KERNEL race_matrix_of_all_warps(int* a, int* b, int n) {
  __shared__ alignas(16) int s[32];
  store_matrix(s, T % 8, T);
  b[I] = s[T % 32];
}
KERNEL sound_race_matrix_of_all_warps(int* a, int* b, int n) {
  __shared__ alignas(16) int s[32];
  store_matrix(s, T % 8, T % 32);
  b[I] = s[T % 32];
}

__device__ void store_fragment(int* to, int value) {
  asm volatile(
      "wmma.store.d.sync.aligned.row.m16n16k16.global.s32 [%0], {%1,%1,%1,%1,%1,%1,%1,%1}, 16;" ::
          "l"(__cvta_generic_to_global(to)),
      "r"(value)
      : "memory");
}
KERNEL race_fragment_of_all_warps(int* a, int* b, int n) { store_fragment(b, T / 32); }
KERNEL sound_race_fragment_of_all_warps(int* a, int* b, int n) { store_fragment(b, 4); }

KERNEL race_barrier_is_made_by_two(int* a, int* b, int n) {
  __shared__ unsigned long long barrier;
  if (T % 64 == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(&barrier)), "r"(T + 1));
  }
}
KERNEL sound_race_barrier_is_made_by_two(int* a, int* b, int n) {
  __shared__ unsigned long long barrier;
  if (T % 64 == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(&barrier)), "r"(128));
  }
}
