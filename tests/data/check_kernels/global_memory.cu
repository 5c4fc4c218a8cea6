// Global memory.

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

// The writer has a fence and the reader has none, so that its load of the data may come first.
KERNEL race_reader_without_fence(int* a, int* b, int n) {
  volatile int* const flag = a;
  if (I == 0) {
    a[1] = 7;
    __threadfence();
    *flag = 1;
  }
  if (I == 300) {
    while (*flag == 0) {
    }
    b[0] = a[1];
  }
}
KERNEL sound_race_reader_without_fence(int* a, int* b, int n) {
  volatile int* const flag = a;
  if (I == 0) {
    a[1] = 7;
    __threadfence();
    *flag = 1;
  }
  if (I == 300) {
    while (*flag == 0) {
    }
    __threadfence();
    b[0] = a[1];
  }
}

// The read converts the address to global memory's, and the atomic takes it as it is.
KERNEL sound_race_read_by_another_address(int* a, int* b, int n) {
  int old = a[0];
  for (int seen = ~old; seen != old;) {
    seen = old;
    asm volatile("atom.cas.b32 %0, [%1], %2, %3;"
                 : "=r"(old)
                 : "l"(a), "r"(seen), "r"(seen + 1)
                 : "memory");
  }
}
