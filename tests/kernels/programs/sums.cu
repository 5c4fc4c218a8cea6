// Additions whose old values nobody reads, among other accesses to the same memory: a thread sees
// its own, the host all of them. What else is read lies side by side.
#define INDEX() (blockIdx.x * blockDim.x + threadIdx.x)
typedef unsigned int u32;
typedef unsigned long long u64;

__device__ u32 of_module[96];

extern "C" __global__ void count_u32(const u32* in, u32* bins, u32 bin_count, u32 n) {
  for (u32 i = INDEX(); i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&bins[in[i] % bin_count], in[i] >> 20);
  }
}

extern "C" __global__ void count_u64(const u32* in, u64* bins, u32 bin_count, u32 n) {
  for (u32 i = INDEX(); i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&bins[in[i] % bin_count], (u64)in[i] << 7);
  }
}

extern "C" __global__ void count_in_module(const u32* in, u32 n) {
  for (u32 i = INDEX(); i < n; i += gridDim.x * blockDim.x) atomicSub(&of_module[in[i] % 96], 3u);
}

// From the middle, by offsets of either sign; only some lanes.
extern "C" __global__ void count_around(const u32* in, u32* middle, int reach, u32 n) {
  for (u32 i = INDEX(); i < n; i += gridDim.x * blockDim.x) {
    const int at = (int)(in[i] % (2 * reach)) - reach;
    if (in[i] >> 28 != 3) atomicAdd(&middle[at], 1u);
  }
}

// All lanes in one place, or side by side.
extern "C" __global__ void sum_all(const u32* in, u32* total, u32* by_thread, u32 n) {
  for (u32 i = INDEX(); i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(total, in[i]);
    atomicAdd(&by_thread[threadIdx.x], in[i]);
  }
}

// Every block has bins of its own, reads them, and goes on from what it has read.
extern "C" __global__ void add_and_read(const u32* in, u32* bins, u32* seen, u32 rounds) {
  u32* own = bins + blockIdx.x * blockDim.x;
  for (u32 round = 0; round < rounds; ++round) {
    const u32 x = in[INDEX()] + round * 97;
    atomicAdd(&own[x % blockDim.x], x & 0xFFFF);
    __syncthreads();
    if (round % 16 == 15) seen[INDEX()] += own[threadIdx.x];
    __syncthreads();
  }
}

// What a thread stores after its additions stays; what it adds to its stores counts.
extern "C" __global__ void add_and_store(u32* cells, u32 rounds) {
  const u32 i = INDEX();
  for (u32 round = 0; round < rounds; ++round) atomicAdd(&cells[i], round);
  if (i % 64 < 32) cells[i] = i;
  atomicAdd(&cells[i], 5u);
}

// A sum of 64 bits over cells of 32: the carry goes on.
extern "C" __global__ void add_both_widths(u32* cells, u32 rounds) {
  const u32 i = INDEX();
  for (u32 round = 0; round < rounds; ++round) {
    atomicAdd(&cells[2 * i], 0x40000000u);
    atomicAdd((u64*)&cells[2 * i], 0xC0000001ull);
  }
}

// Ordered by what is not an addition.
extern "C" __global__ void add_and_exchange(u32* cells, u32* old, u32 rounds) {
  const u32 i = INDEX();
  for (u32 round = 0; round < rounds; ++round) {
    atomicAdd(&cells[i], 3u);
    if (round % 5 == 4) old[i] += atomicExch(&cells[i], 1u);
  }
}

// The last block to come sees what all have added.
extern "C" __global__ void last_block_reads(const u32* in, u32* bins, u32* arrived, u32* out) {
  __shared__ u32 order;
  for (u32 round = 0; round < 32; ++round) {
    atomicAdd(&bins[(in[INDEX()] + round) % 64], 1u);
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) order = atomicAdd(arrived, 1u);
  __syncthreads();
  if (order == gridDim.x - 1 && threadIdx.x < 64) {
    out[threadIdx.x] = ((volatile u32*)bins)[threadIdx.x];
  }
}

// Leaves the bins by one element in the last round.
extern "C" __global__ void count_and_fault(const u32* in, u32* bins, u64 wrong, u32 rounds) {
  for (u32 round = 0; round < rounds; ++round) {
    const u64 at = (in[INDEX()] + round) % 64;
    atomicAdd(&bins[round == rounds - 1 && INDEX() == 77 ? wrong : at], 1u);
  }
}
