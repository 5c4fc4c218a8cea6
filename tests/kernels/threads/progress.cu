// Threads that wait for other threads: of their warp, of their block, of other blocks. Each would
// hang where lanes of a warp cannot part, or blocks cannot be resident together.

extern "C" __global__ void spin_lock(int* lock, volatile int* counter, int rounds) {
  for (int r = 0; r < rounds; ++r) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *counter = *counter + 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}

extern "C" __global__ void lock_with_flag(int* lock, volatile int* counter, int* order) {
  bool done = false;
  while (!done) {
    if (atomicExch(lock, 1) == 0) {
      const int place = *counter;
      order[place] = threadIdx.x;
      *counter = place + 1;
      __threadfence();
      done = true;
      atomicExch(lock, 0);
    }
  }
}

extern "C" __global__ void lanes_in_turn(int* out) {
  __shared__ volatile int turn;
  if (threadIdx.x == 0) turn = 0;
  __syncthreads();
  const int mine = blockDim.x - 1 - threadIdx.x;  // the last thread first
  while (turn != mine) {
  }
  out[mine] = threadIdx.x;
  __threadfence_block();
  turn = mine + 1;
}

extern "C" __global__ void produce_consume(const int* in, int* out, int n) {
  __shared__ volatile int value, full;
  if (threadIdx.x == 0) full = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 0; i < n; ++i) {
      while (full) {
      }
      value = in[i];
      __threadfence_block();
      full = 1;
    }
  } else if (threadIdx.x == blockDim.x - 1) {
    for (int i = 0; i < n; ++i) {
      while (!full) {
      }
      out[i] = value * 2;
      __threadfence_block();
      full = 0;
    }
  }
}

// Each block adds its part to the sum of the blocks before it (decoupled look-back, simplified).
extern "C" __global__ void chained_scan(const int* in, int* out, volatile int* sums,
                                        volatile int* flags) {
  __shared__ int before;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int value = in[i];
  for (int d = 1; d < 32; d *= 2) {
    const int other = __shfl_up_sync(0xffffffffu, value, d);
    if (threadIdx.x >= d) value += other;
  }
  if (threadIdx.x == 31) {
    int sum = 0;
    if (blockIdx.x > 0) {
      while (flags[blockIdx.x - 1] == 0) {
      }
      __threadfence();
      sum = sums[blockIdx.x - 1];
    }
    before = sum;
    sums[blockIdx.x] = sum + value;
    __threadfence();
    flags[blockIdx.x] = 1;
  }
  __syncthreads();
  out[i] = value + before;
}

// The first block waits for the last: all must be resident.
extern "C" __global__ void backward_chain(int* out, volatile int* flags) {
  if (threadIdx.x == 0) {
    while (blockIdx.x + 1 < gridDim.x && flags[blockIdx.x + 1] == 0) {
    }
    __threadfence();
    out[blockIdx.x] = blockIdx.x + 1 < gridDim.x ? out[blockIdx.x + 1] + 1 : 1;
    __threadfence();
    flags[blockIdx.x] = 1;
  }
}

__device__ void grid_barrier(unsigned* arrived, unsigned goal) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1);
    while (atomicAdd(arrived, 0) < goal) {
    }
    __threadfence();
  }
  __syncthreads();
}

extern "C" __global__ void grid_rounds(volatile int* a, volatile int* b, unsigned* arrived,
                                       int rounds) {
  const int n = gridDim.x * blockDim.x;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    const int next = a[(i + 1) % n];
    b[i] = next + 1;
    grid_barrier(arrived, (2 * r + 1) * gridDim.x);
    a[i] = b[i];
    grid_barrier(arrived, (2 * r + 2) * gridDim.x);
  }
}

// No block knows which it is. Two that have begun one after the other wait for each other.
extern "C" __global__ void pairs_of_tickets(unsigned* tickets, volatile int* flags, int* out) {
  __shared__ unsigned shared_ticket;
  if (threadIdx.x == 0) shared_ticket = atomicAdd(tickets, 1u);
  __syncthreads();
  const unsigned ticket = shared_ticket;
  if (threadIdx.x != 0) return;
  flags[ticket] = static_cast<int>(ticket) + 1;
  while (flags[ticket ^ 1] == 0) {
  }
  out[ticket] = flags[ticket ^ 1];
}

// All wait for all.
extern "C" __global__ void crowd(unsigned* arrived, int* out) {
  grid_barrier(arrived, gridDim.x);
  atomicAdd(&out[threadIdx.x], 1);
}

// The same operation with the same members, met at two places in the code.
extern "C" __global__ void meet_at_two_places(const int* in, int* out) {
  const int lane = threadIdx.x % 32;
  int value = in[threadIdx.x];
  if (lane % 3 == 0) {
    value = value * 2 + __shfl_sync(0xffffffffu, value, (lane + 1) % 32);
    asm volatile("" ::: "memory");
  } else {
    value = value * 3 - __shfl_sync(0xffffffffu, value, (lane + 7) % 32);
  }
  out[threadIdx.x] = value;
}

// Two halves of a warp work with masks of their own, for different numbers of rounds.
extern "C" __global__ void halves(const int* in, int* out) {
  const int lane = threadIdx.x % 32;
  int value = in[threadIdx.x];
  if (lane < 16) {
    for (int r = 0; r < 5; ++r) {
      value += __shfl_xor_sync(0x0000ffffu, value, 1 << (r % 4));
      __syncwarp(0x0000ffffu);
    }
  } else {
    for (int r = 0; r < 3; ++r) value ^= __shfl_down_sync(0xffff0000u, value, 2, 16);
    if (__any_sync(0xffff0000u, value % 7 == 0)) value = -value;
  }
  out[threadIdx.x] = value;
}

// Lanes leave one by one; those that have exited are waited for no more.
extern "C" __global__ void leave_early(const int* in, int* out) {
  const int lane = threadIdx.x % 32;
  const int rounds = in[threadIdx.x];
  int sum = 0;
  for (int r = 0; r < 40; ++r) {
    if (r >= rounds) {
      out[threadIdx.x] = sum;
      return;
    }
    sum += __popc(__ballot_sync(0xffffffffu, (lane + r) % 2 == 0));
  }
  out[threadIdx.x] = -sum;
}

extern "C" __global__ void count_keys(const int* in, int* out) {
  const int lane = threadIdx.x % 32;
  int key = in[threadIdx.x];
  int total = 0;
  while (key > 0) {
    const unsigned here = __activemask();
    const unsigned same = __match_any_sync(here, key % 4);
    total += __popc(same);
    key /= 2 + lane % 2;
  }
  out[threadIdx.x] = total;
}

// barrier.sync counts threads wherever they are.
extern "C" __global__ void barrier_apart(int* out) {
  __shared__ int tile[128];
  tile[threadIdx.x] = threadIdx.x * 3;
  if (threadIdx.x % 2 == 0) {
    asm volatile("barrier.sync 1;" ::: "memory");
    out[threadIdx.x] = tile[threadIdx.x + 1];
  } else {
    asm volatile("barrier.sync 1;" ::: "memory");
    out[threadIdx.x] = -tile[threadIdx.x - 1];
  }
}

extern "C" __global__ void vote_of_parted_threads(const int* in, int* out) {
  int result = 0;
  if (in[threadIdx.x] > 0) {
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; barrier.red.popc.u32 %0, 2, p; }"
                 : "=r"(result)
                 : "r"(in[threadIdx.x] & 1)
                 : "memory");
    out[threadIdx.x] = result;
  } else {
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; barrier.red.popc.u32 %0, 2, p; }"
                 : "=r"(result)
                 : "r"(in[threadIdx.x] & 2)
                 : "memory");
    out[threadIdx.x] = result + 1000;
  }
}

// Lanes 16 to 31 make a shuffle whose membermask names the others only, while a lock is held.
extern "C" __global__ void mask_of_others(int* lock, const int* in, int* out) {
  const int lane = threadIdx.x % 32;
  bool is_locked = true;
  while (is_locked) {
    if (lane == 1) is_locked = atomicOr(lock, 1) != 0;
    is_locked = __shfl_sync(0xffffffffu, is_locked, 1);
  }
  __threadfence();
  const int moved = __shfl_up_sync(0x0000ffffu, in[threadIdx.x], 16);
  __threadfence();
  if (lane == 1) atomicAnd(lock, 0);
  out[threadIdx.x] = moved;
}

// The first block stores vectors whose elements are equal, each lane its own, until the last round;
// the others look at them and count those whose elements differ.
#define WHOLE_VECTORS(NAME, ELEMENT, LETTER, COUNT, STORE, LOAD, ...)                       \
  extern "C" __global__ void NAME(ELEMENT* slots, unsigned* torn, unsigned rounds) {        \
    ELEMENT* const slot = slots + COUNT * (threadIdx.x * 37 % 32);                          \
    if (blockIdx.x == 0) {                                                                  \
      for (unsigned round = 1; round <= rounds; ++round) {                                  \
        const ELEMENT value = round;                                                        \
        asm volatile("st.relaxed.gpu.global." STORE ::"l"(slot), LETTER(value) : "memory"); \
      }                                                                                     \
      return;                                                                               \
    }                                                                                       \
    unsigned differ = 0;                                                                    \
    ELEMENT parts[4] = {};                                                                  \
    do {                                                                                    \
      asm volatile("ld.relaxed.gpu.global." LOAD : __VA_ARGS__ : "l"(slot) : "memory");     \
      for (int i = 1; i < COUNT; ++i) differ += parts[i] != parts[0];                       \
    } while (parts[0] != static_cast<ELEMENT>(rounds));                                     \
    atomicAdd(torn, differ);                                                                \
  }

WHOLE_VECTORS(whole_v2_u32, unsigned, "r", 2, "v2.u32 [%0], {%1, %1};", "v2.u32 {%0, %1}, [%2];",
              "=r"(parts[0]), "=r"(parts[1]))
WHOLE_VECTORS(whole_v4_u32, unsigned, "r", 4, "v4.u32 [%0], {%1, %1, %1, %1};",
              "v4.u32 {%0, %1, %2, %3}, [%4];", "=r"(parts[0]), "=r"(parts[1]), "=r"(parts[2]),
              "=r"(parts[3]))
WHOLE_VECTORS(whole_v2_u64, unsigned long long, "l", 2, "v2.u64 [%0], {%1, %1};",
              "v2.u64 {%0, %1}, [%2];", "=l"(parts[0]), "=l"(parts[1]))
WHOLE_VECTORS(whole_v2_f32, float, "f", 2, "v2.f32 [%0], {%1, %1};", "v2.f32 {%0, %1}, [%2];",
              "=f"(parts[0]), "=f"(parts[1]))
WHOLE_VECTORS(whole_v4_u16, unsigned short, "h", 4, "v4.u16 [%0], {%1, %1, %1, %1};",
              "v4.u16 {%0, %1, %2, %3}, [%4];", "=h"(parts[0]), "=h"(parts[1]), "=h"(parts[2]),
              "=h"(parts[3]))
