// Threads, warps and blocks that wait for each other. mutants.h says what the marks mean.
#include <cuda_pipeline.h>
#include "mutants.h"

// run: 2 32 zeros[64] zeros[1] zeros[32]
KERNEL producer_and_consumer(int* data, volatile int* flag, int* out) {
  if (B == 0) {
    data[T] = T;
    __threadfence();  // mutant: fence
    __syncwarp();     // mutant: warp barrier
    if (T == 0) *flag = 1;
  } else {
    while (*flag == 0) {
    }
    __threadfence();  // mutant: fence
    out[T] = data[31 - T];
  }
}

// run: 2 1 zeros[1] zeros[1] zeros[1]
KERNEL release_and_acquire(int* data, int* flag, int* out) {
  if (B == 0) {
    *data = 1;
    asm volatile("fence.acq_rel.gpu;" ::: "memory");  // mutant: fence
    asm volatile("st.relaxed.gpu.s32 [%0], 1;" ::"l"(flag) : "memory");
  } else {
    int seen = 0;
    while (seen == 0) {
      asm volatile("ld.relaxed.gpu.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    }
    asm volatile("fence.acq_rel.gpu;" ::: "memory");  // mutant: fence
    *out = *data;
  }
}

// run: 8 1 zeros[1] zeros[1]
KERNEL lock(int* lock, int* sum) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();  // mutant: fence
  *sum += B;
  __threadfence();  // mutant: fence
  atomicExch(lock, 0);
}

// run: 8 32 zeros[2] zeros[1]
KERNEL lock_with_tickets(int* lock, int* sum) {
  if (T == 0) {
    const int ticket = atomicAdd(&lock[0], 1);
    while (atomicAdd(&lock[1], 0) != ticket) {
    }
    __threadfence();  // mutant: fence
  }
  __syncwarp();  // mutant: warp barrier
  if (T == B) *sum += 1;
  __syncwarp();  // mutant: warp barrier
  if (T == 0) {
    __threadfence();  // mutant: fence
    atomicAdd(&lock[1], 1);
  }
}

// run: 4 64 zeros[256] zeros[256] zeros[1]
KERNEL barrier_of_the_grid(int* a, int* out, int* arrived) {
  a[I] = I;
  __syncthreads();  // mutant: barrier
  if (T == 0) {
    __threadfence();  // mutant: fence
    atomicAdd(arrived, 1);
    while (atomicAdd(arrived, 0) < 4) {
    }
    __threadfence();  // mutant: fence
  }
  __syncthreads();  // mutant: barrier
  out[I] = a[255 - I];
}

// run: 2 64 zeros[128]
KERNEL named_barriers(int* out) {
  __shared__ int s[32];
  for (int k = 0; k < 4; ++k) {
    if (T < 32) {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      s[T] = k * T;
      asm volatile("bar.arrive 2, 64;" ::: "memory");
    } else {
      asm volatile("bar.arrive 1, 64;" ::: "memory");
      asm volatile("bar.sync 2, 64;" ::: "memory");
      out[B * 64 + T] = s[63 - T];
      // Harmless: all lanes of the warp arrive at the next barrier together.
      __syncwarp();  // harmless: warp barrier
    }
  }
}

// run: 2 128 random[256] zeros[256]
KERNEL barriers_of_two_halves(const int* a, int* out) {
  __shared__ int s[128];
  const int half = T / 64;
  s[T] = a[I];
  asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory");  // mutant: barrier
  out[I] = s[half * 64 + 63 - T % 64];
}

// run: 2 64 random[128] zeros[128]
__device__ void wait_for(unsigned bar, unsigned long long state) {
  int done = 0;
  while (done == 0) {
    asm volatile(
        "{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(bar), "l"(state)
        : "memory");
  }
}
KERNEL barrier_in_memory(const int* a, int* out) {
  __shared__ int s[64];
  __shared__ unsigned long long bar;
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(&bar));
  if (T == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at) : "memory");
  __syncthreads();  // mutant: barrier
  s[T] = a[I];
  unsigned long long state = 0;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
  wait_for(at, state);  // mutant: wait
  out[I] = s[63 - T];
}

// run: 4 128 random[512] zeros[512]
KERNEL copies_that_go_on(const int* a, int* out) {
  __shared__ int s[128];
  __pipeline_memcpy_async(&s[T], &a[I], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);  // mutant: wait
  __syncthreads();           // mutant: barrier
  out[I] = s[127 - T];
}

// run: 1 64 zeros[64]
KERNEL queue_between_two_warps(int* out) {
  __shared__ int ring[4];
  __shared__ volatile int head, tail;
  if (T == 0) head = 0;  // mutant: initialisation
  if (T == 0) tail = 0;  // mutant: initialisation
  __syncthreads();       // mutant: barrier
  if (T == 0) {
    for (int k = 0; k < 20; ++k) {
      while (k - tail >= 4) {
      }
      __threadfence_block();  // mutant: fence
      ring[k % 4] = k;
      __threadfence_block();  // mutant: fence
      head = k + 1;
    }
  }
  if (T == 32) {
    for (int k = 0; k < 20; ++k) {
      while (head <= k) {
      }
      __threadfence_block();  // mutant: fence
      out[k] = ring[k % 4];
      __threadfence_block();  // mutant: fence
      tail = k + 1;
    }
  }
}

// run: 4 64 zeros[1] zeros[640]
KERNEL tasks_by_number(int* next, int* out) {
  __shared__ int task;
  while (true) {
    if (T == 0) task = atomicAdd(next, 1);
    __syncthreads();  // mutant: barrier
    const int mine = task;
    __syncthreads();         // mutant: barrier
    if (mine >= 10) return;  // mutant: bound
    out[mine * 64 + T] = mine;
  }
}
