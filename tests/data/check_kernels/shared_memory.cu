// Shared memory, between the warps of a block.

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
