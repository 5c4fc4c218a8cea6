// Kernels for the checker: race_X, memory_X, init_X and sync_X have the defect that their name
// says, sound_race_X and so on are the same without it. What schedule_X does depends on the order
// of blocks, warps and lanes, which --explore shows. All run in 4 blocks of 128 threads, on a[1024]
// and b[1024], with n = 512.
#include <cuda_pipeline.h>

#define T threadIdx.x
#define I (blockIdx.x * blockDim.x + threadIdx.x)
#define KERNEL extern "C" __global__ void

// ---- Shared memory, between the warps of a block.

KERNEL race_missing_barrier(int* a, int* b, int n) {
  __shared__ int s[128];
  s[T] = a[I];
  b[I] = s[127 - T];
}
KERNEL sound_race_missing_barrier(int* a, int* b, int n) {
  __shared__ int s[128];
  s[T] = a[I];
  __syncthreads();
  b[I] = s[127 - T];
}

KERNEL race_tile_is_overwritten(int* a, int* b, int n) {
  __shared__ int s[128];
  int sum = 0;
  for (int k = 0; k < 4; ++k) {
    s[T] = a[k * 128 + T];
    __syncthreads();
    sum += s[127 - T];
  }
  b[I] = sum;
}
KERNEL sound_race_tile_is_overwritten(int* a, int* b, int n) {
  __shared__ int s[128];
  int sum = 0;
  for (int k = 0; k < 4; ++k) {
    s[T] = a[k * 128 + T];
    __syncthreads();
    sum += s[127 - T];
    __syncthreads();
  }
  b[I] = sum;
}

KERNEL race_reduction(int* a, int* b, int n) {
  __shared__ int s[128];
  s[T] = a[I];
  __syncthreads();
  for (int k = 64; k > 0; k /= 2) {
    if (T < k) s[T] += s[T + k];
  }
  if (T == 0) b[blockIdx.x] = s[0];
}
KERNEL sound_race_reduction(int* a, int* b, int n) {
  __shared__ int s[128];
  s[T] = a[I];
  __syncthreads();
  for (int k = 64; k > 0; k /= 2) {
    if (T < k) s[T] += s[T + k];
    __syncthreads();
  }
  if (T == 0) b[blockIdx.x] = s[0];
}

KERNEL race_double_buffer(int* a, int* b, int n) {
  __shared__ int s[2][128];
  s[0][T] = a[I];
  for (int k = 0; k < 4; ++k) {
    if (k % 2 == 0) __syncthreads();
    s[1 - k % 2][T] = s[k % 2][127 - T] + 1;
  }
  __syncthreads();
  b[I] = s[0][T];
}
KERNEL sound_race_double_buffer(int* a, int* b, int n) {
  __shared__ int s[2][128];
  s[0][T] = a[I];
  for (int k = 0; k < 4; ++k) {
    __syncthreads();
    s[1 - k % 2][T] = s[k % 2][127 - T] + 1;
  }
  __syncthreads();
  b[I] = s[0][T];
}

KERNEL race_two_writers(int* a, int* b, int n) {
  __shared__ int s;
  if (T % 32 == 0) s = T;
  __syncthreads();
  b[I] = s;
}
KERNEL sound_race_two_writers(int* a, int* b, int n) {
  __shared__ int s;
  if (T == 0) s = T;
  __syncthreads();
  b[I] = s;
}

KERNEL race_lanes_write_one_place(int* a, int* b, int n) {
  __shared__ int s;
  s = T;
  __syncthreads();
  b[I] = s;
}
// Several threads write one value, which programs do on purpose; --same-value tells of it.
KERNEL sound_race_same_value(int* a, int* b, int n) {
  __shared__ int any;
  if (T == 0) any = 0;
  __syncthreads();
  if (T % 2 == 0) any = 1;
  __syncthreads();
  b[I] = any;
}

KERNEL race_atomic_and_plain(int* a, int* b, int n) {
  __shared__ int s;
  if (T == 0) s = 0;
  __syncthreads();
  atomicAdd(&s, 1);
  b[I] = s;
}
KERNEL sound_race_atomic_and_plain(int* a, int* b, int n) {
  __shared__ int s;
  if (T == 0) s = 0;
  __syncthreads();
  atomicAdd(&s, 1);
  __syncthreads();
  b[I] = s;
}

KERNEL race_atomics_after_a_store(int* a, int* b, int n) {
  __shared__ int s;
  if (T == 0) s = 0;
  atomicAdd(&s, 1);
  __syncthreads();
  b[I] = s;
}
KERNEL sound_race_atomics_after_a_store(int* a, int* b, int n) {
  __shared__ int s;
  if (T == 0) s = 0;
  __syncthreads();
  atomicAdd(&s, 1);
  __syncthreads();
  b[I] = s;
}

KERNEL race_maximum_read_too_early(int* a, int* b, int n) {
  __shared__ int s;
  if (T == 0) s = 0;
  __syncthreads();
  if (s <= a[I]) atomicMax(&s, a[I]);
  if (T == 0) b[blockIdx.x] = s;
}
KERNEL sound_race_maximum_read_too_early(int* a, int* b, int n) {
  __shared__ int s;
  if (T == 0) s = 0;
  __syncthreads();
  if (s <= a[I]) atomicMax(&s, a[I]);
  __syncthreads();
  if (T == 0) b[blockIdx.x] = s;
}

KERNEL race_bytes(int* a, int* b, int n) {
  __shared__ unsigned char s[130];
  s[T] = T;
  s[T + 1] = T;
  __syncthreads();
  b[I] = s[T];
}
KERNEL sound_race_bytes(int* a, int* b, int n) {
  __shared__ unsigned char s[128];
  s[T] = T;
  __syncthreads();
  b[I] = s[127 - T];
}

KERNEL race_halves_of_a_word(int* a, int* b, int n) {
  __shared__ unsigned short s[128];
  __shared__ int words[64];
  s[T] = T;
  if (T < 64) words[T] = reinterpret_cast<int*>(s)[T];
  __syncthreads();
  b[I] = words[T % 64];
}
KERNEL sound_race_halves_of_a_word(int* a, int* b, int n) {
  __shared__ unsigned short s[128];
  __shared__ int words[64];
  s[T] = T;
  __syncthreads();
  if (T < 64) words[T] = reinterpret_cast<int*>(s)[T];
  __syncthreads();
  b[I] = words[T % 64];
}

KERNEL race_vector_over_words(int* a, int* b, int n) {
  __shared__ int4 s[32];
  int* words = reinterpret_cast<int*>(s);
  if (T < 32) s[T] = make_int4(1, 2, 3, 4);
  words[T] = 5;
  __syncthreads();
  b[I] = words[127 - T];
}
KERNEL sound_race_vector_over_words(int* a, int* b, int n) {
  __shared__ int4 s[32];
  int* words = reinterpret_cast<int*>(s);
  if (T < 32) s[T] = make_int4(1, 2, 3, 4);
  __syncthreads();
  words[T] += 5;
  __syncthreads();
  b[I] = words[127 - T];
}

KERNEL race_counted_barrier(int* a, int* b, int n) {
  __shared__ int s[128];
  s[T] = a[I];
  if (T < 64) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 2, 64;" ::: "memory");
  }
  b[I] = s[127 - T];
}
KERNEL sound_race_counted_barrier(int* a, int* b, int n) {
  __shared__ int s[128];
  s[T] = a[I];
  if (T < 64) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    b[I] = s[63 - T];
  } else {
    asm volatile("bar.sync 2, 64;" ::: "memory");
    b[I] = s[191 - T];
  }
}

KERNEL race_producer_only_arrives(int* a, int* b, int n) {
  __shared__ int s[64];
  if (T < 64) {
    s[T] = a[I];
    asm volatile("bar.arrive 1, 128;" ::: "memory");
    s[T] = 0;
  } else {
    asm volatile("bar.sync 1, 128;" ::: "memory");
    b[I] = s[127 - T];
  }
}
KERNEL sound_race_producer_only_arrives(int* a, int* b, int n) {
  __shared__ int s[64];
  if (T < 64) {
    s[T] = a[I];
    asm volatile("bar.arrive 1, 128;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 128;" ::: "memory");
    b[I] = s[127 - T];
  }
}

KERNEL race_count_before_barrier(int* a, int* b, int n) {
  __shared__ int s[128];
  const int count = __syncthreads_count(T % 2);
  s[T] = count;
  b[I] = s[127 - T];
}
KERNEL sound_race_count_before_barrier(int* a, int* b, int n) {
  __shared__ int s[128];
  s[T] = T;
  const int count = __syncthreads_count(T % 2);
  b[I] = s[127 - T] + count;
}

KERNEL race_copy_without_wait(int* a, int* b, int n) {
  __shared__ int s[128];
  __pipeline_memcpy_async(&s[T], &a[I], 4);
  __pipeline_commit();
  b[I] = s[T];
}
KERNEL race_copy_of_later_group(int* a, int* b, int n) {
  __shared__ int s[256];
  for (int stage = 0; stage < 2; ++stage) {
    __pipeline_memcpy_async(&s[T + 128 * stage], &a[I], 4);
    __pipeline_commit();
  }
  __pipeline_wait_prior(1);
  __syncthreads();
  b[I] = s[127 - T] + s[255 - T];
}
KERNEL sound_race_copy_of_groups(int* a, int* b, int n) {
  __shared__ int s[256];
  for (int stage = 0; stage < 2; ++stage) {
    __pipeline_memcpy_async(&s[T + 128 * stage], &a[I], 4);
    __pipeline_commit();
  }
  __pipeline_wait_prior(1);
  __syncthreads();
  const int first = s[127 - T];
  __pipeline_wait_prior(0);
  __syncthreads();
  b[I] = first + s[255 - T];
}

// Thread 0 copies 128 words in bulk, and a phase of the barrier says that they are there.
__device__ unsigned shared_address(const void* place) {
  return static_cast<unsigned>(__cvta_generic_to_shared(place));
}
__device__ void begin_bulk_copy(int* to, const int* from, unsigned long long* barrier) {
  if (T == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(barrier)));
    asm volatile(
        "mbarrier.arrive.expect_tx.shared.b64 _, [%0], 512;" ::"r"(shared_address(barrier)));
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 512, "
        "[%2];" ::"r"(shared_address(to)),
        "l"(__cvta_generic_to_global(from)), "r"(shared_address(barrier)));
  }
  __syncthreads();
}
__device__ void wait_for_bulk_copy(unsigned long long* barrier) {
  asm volatile(
      "{\n .reg .pred p;\n"
      "again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n"
      "@!p bra again;\n}" ::"r"(shared_address(barrier))
      : "memory");
}
KERNEL race_bulk_copy_without_wait(int* a, int* b, int n) {
  __shared__ alignas(16) int s[128];
  __shared__ unsigned long long barrier;
  begin_bulk_copy(s, a + 128 * blockIdx.x, &barrier);
  b[I] = s[127 - T];
}
KERNEL sound_race_bulk_copy(int* a, int* b, int n) {
  __shared__ alignas(16) int s[128];
  __shared__ unsigned long long barrier;
  begin_bulk_copy(s, a + 128 * blockIdx.x, &barrier);
  wait_for_bulk_copy(&barrier);
  b[I] = s[127 - T];
}
KERNEL sound_race_bulk_copy_of_one_waiter(int* a, int* b, int n) {
  __shared__ alignas(16) int s[128];
  __shared__ unsigned long long barrier;
  begin_bulk_copy(s, a + 128 * blockIdx.x, &barrier);
  if (T == 0) wait_for_bulk_copy(&barrier);
  __syncthreads();
  b[I] = s[127 - T];
}

// Thread 0 copies shared memory out in bulk, after which the block writes to it again.
__device__ void bulk_copy_out(int* to, const int* from) {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (T == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" ::"l"(
                     __cvta_generic_to_global(to)),
                 "r"(shared_address(from)));
    asm volatile("cp.async.bulk.commit_group;");
  }
}
KERNEL race_bulk_source_is_overwritten(int* a, int* b, int n) {
  __shared__ alignas(16) int s[128];
  s[T] = T;
  bulk_copy_out(b + 128 * blockIdx.x, s);
  __syncthreads();
  s[T] = 2 * T;
}
KERNEL sound_race_bulk_source_is_overwritten(int* a, int* b, int n) {
  __shared__ alignas(16) int s[128];
  s[T] = T;
  bulk_copy_out(b + 128 * blockIdx.x, s);
  if (T == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
  __syncthreads();
  s[T] = 2 * T;
}

KERNEL race_copy_without_barrier(int* a, int* b, int n) {
  __shared__ int s[128];
  __pipeline_memcpy_async(&s[T], &a[I], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  b[I] = s[127 - T];
}
KERNEL sound_race_copy_without_barrier(int* a, int* b, int n) {
  __shared__ int s[128];
  __pipeline_memcpy_async(&s[T], &a[I], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  b[I] = s[127 - T];
}

// ---- Shared memory, between the lanes of a warp.

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

// ---- Global memory.

KERNEL race_plain_counter(int* a, int* b, int n) { a[0] += 1; }
KERNEL sound_race_plain_counter(int* a, int* b, int n) { atomicAdd(&a[0], 1); }

KERNEL race_neighbour_in_place(int* a, int* b, int n) {
  if (I > 0) a[I] = a[I - 1] + 1;
}
KERNEL sound_race_neighbour_in_place(int* a, int* b, int n) {
  if (I > 0) b[I] = a[I - 1] + 1;
}

KERNEL race_blocks_overlap(int* a, int* b, int n) { a[blockIdx.x * 100 + T] = I; }
KERNEL sound_race_blocks_overlap(int* a, int* b, int n) { a[blockIdx.x * 128 + T] = I; }

KERNEL race_global_within_block(int* a, int* b, int n) {
  a[I] = T;
  b[I] = a[blockIdx.x * 128 + 127 - T];
}
KERNEL sound_race_global_within_block(int* a, int* b, int n) {
  a[I] = T;
  __syncthreads();
  b[I] = a[blockIdx.x * 128 + 127 - T];
}

KERNEL race_atomic_and_plain_read(int* a, int* b, int n) {
  if (T == 0) atomicAdd(&a[0], 1);
  if (T == 1) b[blockIdx.x] = a[0];
}
KERNEL sound_race_atomic_and_plain_read(int* a, int* b, int n) {
  if (T == 0) atomicAdd(&a[0], 1);
  if (T == 1) b[blockIdx.x] = atomicAdd(&a[0], 0);
}

KERNEL race_atomic_of_a_block(int* a, int* b, int n) { atomicAdd_block(&a[0], 1); }
KERNEL sound_race_atomic_of_a_block(int* a, int* b, int n) { atomicAdd_block(&a[blockIdx.x], 1); }

KERNEL race_last_block(int* a, int* b, int n) {
  __shared__ bool last;
  if (T == 0) {
    a[1 + blockIdx.x] = blockIdx.x;
    last = atomicAdd(&a[0], 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && T < gridDim.x) b[T] = a[1 + T];
}
KERNEL sound_race_last_block(int* a, int* b, int n) {
  __shared__ bool last;
  if (T == 0) {
    a[1 + blockIdx.x] = blockIdx.x;
    __threadfence();
    last = atomicAdd(&a[0], 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && T < gridDim.x) b[T] = a[1 + T];
}

KERNEL race_fence_of_a_block(int* a, int* b, int n) {
  __shared__ bool last;
  if (T == 0) {
    a[1 + blockIdx.x] = blockIdx.x;
    __threadfence_block();
    last = atomicAdd(&a[0], 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && T < gridDim.x) b[T] = a[1 + T];
}
// The fence of each thread comes before the barrier, the atomic after it, as many programs have it.
KERNEL sound_race_fence_before_barrier(int* a, int* b, int n) {
  __shared__ bool last;
  b[I] = I;
  __threadfence();
  __syncthreads();
  if (T == 0) last = atomicAdd(&a[0], 1) == gridDim.x - 1;
  __syncthreads();
  if (last) a[512 + T] = b[128 * 3 + T] + b[T];
}

KERNEL race_flag(int* a, int* b, int n) {
  volatile int* flag = a;
  if (blockIdx.x == 0 && T == 0) {
    b[0] = 42;
    *flag = 1;
  }
  if (blockIdx.x == 1 && T == 0) {
    while (*flag == 0) {
    }
    b[1] = b[0];
  }
}
KERNEL sound_race_flag(int* a, int* b, int n) {
  volatile int* flag = a;
  if (blockIdx.x == 0 && T == 0) {
    b[0] = 42;
    __threadfence();
    *flag = 1;
  }
  if (blockIdx.x == 1 && T == 0) {
    while (*flag == 0) {
    }
    __threadfence();
    b[1] = b[0];
  }
}

KERNEL race_flag_and_fence_of_a_block(int* a, int* b, int n) {
  volatile int* flag = a;
  if (blockIdx.x == 0 && T == 0) {
    b[0] = 42;
    __threadfence();
    *flag = 1;
  }
  if (blockIdx.x == 1 && T == 0) {
    while (*flag == 0) {
    }
    __threadfence_block();
    b[1] = b[0];
  }
}
KERNEL sound_race_flag_and_fence_of_a_block(int* a, int* b, int n) {
  volatile int* flag = a;
  if (blockIdx.x == 0 && T == 0) {
    b[0] = 42;
    __threadfence();
    *flag = 1;
  }
  if (blockIdx.x == 0 && T == 32) {
    while (*flag == 0) {
    }
    __threadfence_block();
    b[1] = b[0];
  }
}

KERNEL race_relaxed_flag(int* a, int* b, int n) {
  if (blockIdx.x == 0 && T == 0) {
    b[0] = 42;
    asm volatile("st.relaxed.gpu.s32 [%0], 1;" ::"l"(a) : "memory");
  }
  if (blockIdx.x == 1 && T == 0) {
    int seen = 0;
    while (seen == 0) asm volatile("ld.relaxed.gpu.s32 %0, [%1];" : "=r"(seen) : "l"(a) : "memory");
    b[1] = b[0];
  }
}
KERNEL sound_race_relaxed_flag(int* a, int* b, int n) {
  if (blockIdx.x == 0 && T == 0) {
    b[0] = 42;
    asm volatile("st.release.gpu.s32 [%0], 1;" ::"l"(a) : "memory");
  }
  if (blockIdx.x == 1 && T == 0) {
    int seen = 0;
    while (seen == 0) asm volatile("ld.acquire.gpu.s32 %0, [%1];" : "=r"(seen) : "l"(a) : "memory");
    b[1] = b[0];
  }
}

KERNEL race_flag_of_a_block(int* a, int* b, int n) {
  __shared__ volatile int flag;
  __shared__ int data;
  if (T == 0) flag = 0;
  __syncthreads();
  if (T == 0) {
    data = a[1];
    flag = 1;
  }
  if (T == 32) {
    while (flag == 0) {
    }
    b[blockIdx.x] = data;
  }
}
KERNEL sound_race_flag_of_a_block(int* a, int* b, int n) {
  __shared__ volatile int flag;
  __shared__ int data;
  if (T == 0) flag = 0;
  __syncthreads();
  if (T == 0) {
    data = a[1];
    __threadfence_block();
    flag = 1;
  }
  if (T == 32) {
    while (flag == 0) {
    }
    __threadfence_block();
    b[blockIdx.x] = data;
  }
}

KERNEL race_lock_without_fences(int* a, int* b, int n) {
  if (T != 0) return;
  while (atomicCAS(&a[0], 0, 1) != 0) {
  }
  b[0] += 1;
  atomicExch(&a[0], 0);
}
KERNEL sound_race_lock_without_fences(int* a, int* b, int n) {
  if (T != 0) return;
  while (atomicCAS(&a[0], 0, 1) != 0) {
  }
  __threadfence();
  b[0] += 1;
  __threadfence();
  atomicExch(&a[0], 0);
}

__device__ void wait_for_all(int* count, int blocks, bool fences) {
  __syncthreads();
  if (T == 0) {
    if (fences) __threadfence();
    atomicAdd(count, 1);
    while (atomicAdd(count, 0) < blocks) {
    }
    if (fences) __threadfence();
  }
  __syncthreads();
}
KERNEL race_barrier_of_the_grid(int* a, int* b, int n) {
  b[I] = I;
  wait_for_all(a, gridDim.x, false);
  b[512 + I] = b[n - 1 - I];
}
KERNEL sound_race_barrier_of_the_grid(int* a, int* b, int n) {
  b[I] = I;
  wait_for_all(a, gridDim.x, true);
  b[512 + I] = b[n - 1 - I];
  wait_for_all(a, 2 * gridDim.x, true);
  b[I] = b[512 + I];
}

KERNEL race_read_and_written_later(int* a, int* b, int n) {
  b[I] = a[n - 1 - I];
  a[I] = 1;
}
KERNEL sound_race_read_and_written_later(int* a, int* b, int n) {
  b[I] = a[n - 1 - I];
  wait_for_all(a + 1000, gridDim.x, true);
  a[I] = 1;
}

KERNEL race_memory_of_malloc(int* a, int* b, int n) {
  __shared__ int* p;
  if (T == 0) p = static_cast<int*>(malloc(sizeof(int)));
  __syncthreads();
  *p = T;
  __syncthreads();
  if (T == 0) free(p);
}
KERNEL sound_race_memory_of_malloc(int* a, int* b, int n) {
  for (int k = 0; k < 4; ++k) {
    int* const p = static_cast<int*>(malloc(sizeof(int)));
    *p = I;
    b[I] = *p;
    free(p);
  }
}

// All lanes of a warp fence, and one of them publishes, or reads what is published, for all.
KERNEL sound_race_fences_of_a_warp(int* a, int* b, int n) {
  if (blockIdx.x == 0 && T < 32) {
    b[T] = T;
    __threadfence();
    __syncwarp();
    if (T == 0) atomicExch(&a[0], 1);
  }
  if (blockIdx.x == 1 && T < 32) {
    if (T == 0) {
      while (atomicAdd(&a[0], 0) == 0) {
      }
    }
    __syncwarp();
    __threadfence();
    b[32 + T] = b[31 - T];
  }
}
KERNEL race_fences_of_a_warp(int* a, int* b, int n) {
  if (blockIdx.x == 0 && T < 32) {
    b[T] = T;
    __threadfence();
    if (T == 0) atomicExch(&a[0], 1);
  }
  if (blockIdx.x == 1 && T < 32) {
    if (T == 0) {
      while (atomicAdd(&a[0], 0) == 0) {
      }
    }
    __syncwarp();
    __threadfence();
    b[32 + T] = b[31 - T];
  }
}

// The loop by which the CUDA manual makes atomics of its own: what is read first may be old, and
// the atomic finds out.
KERNEL sound_race_atomic_by_comparison(int* a, int* b, int n) {
  int old = a[0], assumed = 0;
  do {
    assumed = old;
    old = atomicCAS(&a[0], assumed, assumed + 3);
  } while (assumed != old);
}
KERNEL race_atomic_by_comparison(int* a, int* b, int n) {
  int old = a[0];
  if (old < 100) a[0] = old + 3;
}

KERNEL sound_race_guarded_maximum(int* a, int* b, int n) {
  if (a[0] < static_cast<int>(I)) atomicMax(&a[0], I);
}
KERNEL race_guarded_maximum(int* a, int* b, int n) {
  if (a[0] < static_cast<int>(I)) a[0] = I;
}

// The owner of a variable may read plainly what others read by volatile.
KERNEL sound_race_owner_reads_plainly(int* a, int* b, int n) {
  volatile int* flag = a;
  if (blockIdx.x == 0 && T == 0) {
    for (int k = 0; k < 10; ++k) *flag = a[0] + 1;
  }
  if (blockIdx.x == 1) b[T] = *flag;
}
KERNEL race_owner_reads_plainly(int* a, int* b, int n) {
  volatile int* flag = a;
  if (blockIdx.x == 0 && T == 0) {
    for (int k = 0; k < 10; ++k) *flag = a[0] + 1;
  }
  if (blockIdx.x == 1) b[T] = a[0];
}

KERNEL sound_race_lanes_have_ended(int* a, int* b, int n) {
  __shared__ int s[1];
  if (T == 0) s[0] = 0;
  __syncthreads();
  if (T >= 8) return;
  for (int k = 0; k < 3; ++k) {
    b[I + k] = s[0];
    __syncwarp(0xff);
    if (T == 0) s[0] = k;
    __syncwarp(0xff);
  }
}
KERNEL race_lanes_have_ended(int* a, int* b, int n) {
  __shared__ int s[1];
  if (T == 0) s[0] = 0;
  __syncthreads();
  if (T >= 8) return;
  for (int k = 0; k < 3; ++k) {
    b[3 * (8 * blockIdx.x + T) + k] = s[0];
    if (T == 0) s[0] = k;
    __syncwarp(0xff);
  }
}

// Each lane writes where another one has written the same in an earlier round.
KERNEL sound_race_same_value_in_turn(int* a, int* b, int n) {
#pragma unroll 1
  for (int k = 0; k < n / 256; ++k) b[T ^ k] = 5;
}

// Some blocks read, and say so; the writer waits for them, not for all.
KERNEL sound_race_some_blocks_read(int* a, int* b, int n) {
  if (blockIdx.x < 2) {
    b[I] = a[5];
    wait_for_all(&a[0], 0, true);
  }
  if (blockIdx.x == 2 && T == 0) {
    while (atomicAdd(&a[0], 0) < 2) {
    }
    __threadfence();
    a[5] = 1;
  }
}
KERNEL race_some_blocks_read(int* a, int* b, int n) {
  if (blockIdx.x < 2) {
    b[I] = a[5];
    wait_for_all(&a[0], 0, false);
  }
  if (blockIdx.x == 2 && T == 0) {
    while (atomicAdd(&a[0], 0) < 2) {
    }
    a[5] = 1;
  }
}

// A lane acquires for its warp, and a shuffle tells the others, as in CUDA's cooperative groups.
KERNEL sound_race_told_by_a_shuffle(int* a, int* b, int n) {
  if (blockIdx.x == 0 && T == 0) {
    b[0] = 42;
    __threadfence();
    atomicExch(&a[0], 1);
  }
  if (blockIdx.x == 1 && T < 32) {
    int seen = 0;
    if (T == 0) {
      while (atomicAdd(&a[0], 0) == 0) {
      }
      __threadfence();
      seen = 1;
    }
    seen = __shfl_sync(~0u, seen, 0);
    b[64 + T] = b[0] + seen;
  }
}

// Lanes that wait for each other by volatile memory do not count on being in step.
KERNEL sound_race_lanes_in_turn(int* a, int* b, int n) {
  __shared__ volatile int turn;
  if (T == 0) turn = 0;
  __syncthreads();
  const int mine = 127 - static_cast<int>(T);
  while (turn != mine) {
  }
  b[I] = mine;
  __threadfence_block();
  turn = mine + 1;
}

// The comparison is of a whole that is read in parts.
KERNEL sound_race_halves_of_an_atomic(int* a, int* b, int n) {
  int* const place = a + I % 3 * 2;
  unsigned long long* const whole = reinterpret_cast<unsigned long long*>(place);
  unsigned long long assumed = 0, old = static_cast<unsigned>(place[0]) |
                                        static_cast<unsigned long long>(place[1]) << 32;
  do {
    assumed = old;
    old = atomicCAS(whole, assumed, assumed + 1);
  } while (old != assumed);
}

// ---- Reads of what nothing has written.

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

// ---- Accesses to memory that a kernel does not have.

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

// ---- Barriers and member masks.

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

// ---- Results that depend on the order of threads, though atomics make each access sound.

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
