// Loops that wait until all blocks of the grid have come, as people write them: what is polled
// reaches the exit of the loop through registers, votes, barriers, shared, global and local memory.

#define WAIT(NAME, BODY)                                                          \
  extern "C" __global__ void NAME(unsigned* arrived, unsigned* out, unsigned all, \
                                  unsigned* scratch) {                            \
    __shared__ unsigned slot;                                                     \
    volatile unsigned* const polled = arrived;                                    \
    unsigned* const own = scratch + 64 * blockIdx.x;                              \
    const unsigned thread = threadIdx.x, lane = thread % 32;                      \
    unsigned seen = 0;                                                            \
    if (thread == 0) slot = 0;                                                    \
    __syncthreads();                                                              \
    if (thread == 0) atomicAdd(arrived, 1u);                                      \
    BODY __syncthreads();                                                         \
    if (thread == 0) out[blockIdx.x] = *polled + 0 * (seen + lane + own[0]);      \
  }

WAIT(
    through_shared, do {
      __syncthreads();
      if (thread == 0) slot = *polled;
      __syncthreads();
    } while (slot < all);)

WAIT(
    through_a_flag, __shared__ int done; if (thread == 0) done = 0; __syncthreads(); while (!done) {
      if (thread == 0 && *polled >= all) done = 1;
      __syncthreads();
    })

WAIT(
    through_a_structure,
    __shared__ struct {
      unsigned count;
      bool done;
    } state;
    do {
      __syncthreads();
      if (thread == 5) {
        state.count = atomicAdd(arrived, 0u);
        state.done = state.count >= all;
      }
      __syncthreads();
    } while (!state.done);)

WAIT(
    through_global, do {
      __syncthreads();
      if (thread == 0) own[1] = *polled;
      __syncthreads();
    } while (own[1] < all);)

WAIT(
    through_local, unsigned list[8]; const int i = thread & 7; do {
      for (int k = 0; k < 8; ++k) list[k] = *polled + k;
    } while (list[i] - i < all);)

WAIT(
    through_a_broadcast, if (thread >= 32) do {
      if (lane == 0) slot = *polled;
      __syncwarp();
      seen = slot;
      __syncwarp();
    } while (seen < all);)

WAIT(
    through_a_shuffle, do {
      seen = 0;
      if (lane == 3) seen = *polled;
      seen = __shfl_sync(~0u, seen, 3);
    } while (seen < all);)

WAIT(
    through_votes,
    while (__any_sync(~0u, *polled < all)) {} while (__ballot_sync(~0u, *polled >= all) != ~0u) {
    } while (__reduce_min_sync(~0u, *polled) < all){})

WAIT(
    through_barriers,
    while (__syncthreads_or(*polled < all)) {} while (!__syncthreads_and(*polled >= all)) {
    } while (__syncthreads_count(*polled < all)){})

WAIT(
    semaphore, int state = -1; while (__syncthreads_and(state != (int)all)) {
      if (thread == 0) {
        asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(state) : "l"(arrived) : "memory");
      }
      __syncthreads();
    })

WAIT(
    named_barrier, do {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      if (thread == 0) slot = *polled;
      asm volatile("bar.sync 1, 64;" ::: "memory");
    } while (*(volatile unsigned*)&slot < all);)

WAIT(
    past_the_caches, if (thread == 0) {
      while (__ldcg(arrived) < all) {
      }
      while (__ldcv(arrived) < all) {
      }
    })

WAIT(
    weak_behind_a_fence, if (thread == 0) do {
      __threadfence();
      seen = *arrived;
      asm volatile("" ::: "memory");
    } while (seen < all);)

WAIT(
    with_back_off, unsigned ns = 8; while (*polled < all) {
      __nanosleep(ns);
      if (ns < 256) ns *= 2;
    })

WAIT(
    with_a_bound, for (long long i = 0; i < 100000000000; ++i) {
      if (*polled >= all) break;
    })

WAIT(with_a_jump, again : __syncthreads(); if (thread == 0) slot = *polled; __syncthreads();
     if (slot < all) goto again;)

WAIT(
    of_one_warp_for_another, volatile unsigned* const flag = &slot; if (thread < 32) {
      while (*polled < all) {
      }
      if (thread == 0) *flag = 7;
    } else {
      while (*flag != 7) {
      }
    })

WAIT(
    of_one_thread_for_the_block, __shared__ volatile int done; if (thread == 0) done = 0;
    __syncthreads(); if (thread == 33) {
      while (*polled < all) {
      }
      done = 1;
    } else {
      while (!done) {
      }
    })
