// Atomic operations on global and shared memory. No loop here waits for another thread.
#define INDEX() (blockIdx.x * blockDim.x + threadIdx.x)
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;

// Results unused: reductions, many threads to one address.
extern "C" __global__ void reduce_u32(const u32* in, u32* cells, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  const u32 x = in[i];
  atomicAdd(&cells[0], x);
  atomicSub(&cells[1], x);
  atomicMin(&cells[2], x);
  atomicMax(&cells[3], x);
  atomicAnd(&cells[4], x | 0xFFu);
  atomicOr(&cells[5], x & 0x00FF00FFu);
  atomicXor(&cells[6], x);
  atomicMin((int*)&cells[7], (int)x);
  atomicMax((int*)&cells[8], (int)x);
}

extern "C" __global__ void reduce_u64(const u64* in, u64* cells, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  const u64 x = in[i];
  atomicAdd(&cells[0], x);
  atomicMin(&cells[1], x);
  atomicMax(&cells[2], x);
  atomicAnd(&cells[3], x | 0xFFFFull);
  atomicOr(&cells[4], x & 0x00FF00FF00FF00FFull);
  atomicXor(&cells[5], x);
  atomicMin((s64*)&cells[6], (s64)x);
  atomicMax((s64*)&cells[7], (s64)x);
}

// Integers in floats: their sums are exact in any order.
extern "C" __global__ void reduce_float(const int* in, float* f, double* d, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  atomicAdd(&f[i & 3], (float)in[i]);
  atomicAdd(&d[i % 3], (double)in[i] * 0.5);
}

// Every old value is seen exactly once.
extern "C" __global__ void tickets(u32* counter, u32* taken, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  const u32 ticket = atomicAdd(counter, 1u);
  taken[ticket] = i;
}

extern "C" __global__ void tickets64(u64* counter, u32* seen, u32 n) {
  const u32 i = INDEX();
  if (i < n && i % 3 != 0) {
    const u64 old = atomicAdd(counter, 5ull);
    atomicAdd(&seen[old / 5], 1u);
  }
}

extern "C" __global__ void exchange(u32* cell, u32* received, u32 n) {
  const u32 i = INDEX();
  if (i < n) received[i] = atomicExch(cell, i + 1);
}

extern "C" __global__ void exchange64(u64* cell, u64* received, u32 n) {
  const u32 i = INDEX();
  if (i < n) received[i] = atomicExch(cell, (u64)(i + 1) << 33);
}

// One winner for each cell.
extern "C" __global__ void compare_and_swap(u32* cells, u32* winners, u64* cells64, u32 n,
                                            u32 cell_count) {
  const u32 i = INDEX();
  if (i >= n) return;
  const u32 at = i % cell_count;
  if (atomicCAS(&cells[at], 0xFFFFFFFFu, i) == 0xFFFFFFFFu) winners[i] = 1;
  if (atomicCAS(&cells64[at], 7ull, (u64)i << 32) == 7ull) winners[i] |= 2;
}

extern "C" __global__ void increment_wrap(u32* cells, u32* old, u32 limit, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  old[i] = atomicInc(&cells[0], limit);
  atomicDec(&cells[1], limit);
}

extern "C" __global__ void shared_atomics(const u32* in, u32* out, u32 n) {
  __shared__ u32 cells[8];
  __shared__ u64 wide[2];
  __shared__ float sum;
  if (threadIdx.x < 8) cells[threadIdx.x] = threadIdx.x == 1 || threadIdx.x == 3 ? 0xFFFFFFFFu : 0;
  if (threadIdx.x < 2) wide[threadIdx.x] = 0;
  if (threadIdx.x == 0) sum = 0.0f;
  __syncthreads();
  const u32 i = INDEX();
  u32 rank = 0;
  if (i < n) {
    rank = atomicAdd(&cells[0], 1u);
    atomicMin(&cells[1], in[i]);
    atomicMax(&cells[2], in[i]);
    atomicAnd(&cells[3], in[i]);
    atomicOr(&cells[4], in[i]);
    atomicXor(&cells[5], in[i]);
    atomicMin((int*)&cells[6], (int)in[i]);
    atomicAdd(&cells[7], in[i] & 15);
    atomicAdd(&wide[0], (u64)in[i] << 16);
    atomicMax(&wide[1], (u64)in[i] << 31);
    atomicAdd(&sum, (float)(in[i] & 7));
  }
  __syncthreads();
  u32* row = out + blockIdx.x * (14 + blockDim.x);
  if (threadIdx.x < 8) row[threadIdx.x] = cells[threadIdx.x];
  if (threadIdx.x < 2) {
    row[8 + 2 * threadIdx.x] = (u32)wide[threadIdx.x];
    row[9 + 2 * threadIdx.x] = (u32)(wide[threadIdx.x] >> 32);
  }
  if (threadIdx.x == 0) row[12] = (u32)sum;
  if (threadIdx.x == 0) row[13] = blockIdx.x;
  row[14 + threadIdx.x] = rank;
}

// Through a pointer whose state space is not known when compiling.
__device__ __noinline__ void add_generic(u32* cell, u32 value) { atomicAdd(cell, value); }

extern "C" __global__ void generic_atomics(const u32* in, u32* out, u32 n) {
  __shared__ u32 local;
  if (threadIdx.x == 0) local = 0;
  __syncthreads();
  const u32 i = INDEX();
  if (i < n) add_generic(in[i] & 1 ? &local : &out[0], in[i] >> 8);
  __syncthreads();
  if (threadIdx.x == 0) add_generic(&out[1], local);
}

extern "C" __global__ void global_histogram(const u32* in, u32* bins, u32 n) {
  for (u32 i = INDEX(); i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i] >> 22], 1u);
}

extern "C" __global__ void scoped_atomics(u32* cells, u32 n) {
  const u32 i = INDEX();
  if (i >= n) return;
  atomicAdd_system(&cells[0], 1u);
  atomicMax_block(&cells[1], i);
  atomicOr_system(&cells[2], 1u << (i & 31));
}

// Several sums whose places come from one word; a third of the threads stays out where `parted`.
extern "C" __global__ void fields_of_words(const u32* in, u32* bins, u32 parted, u32 n) {
  __shared__ u32 own[1024];
  for (u32 i = threadIdx.x; i < 1024; i += blockDim.x) own[i] = 0;
  __syncthreads();
  const u32 i = INDEX();
  if (i < n && !(parted && i % 3 == 1)) {
    const u32 x = in[i];
    atomicAdd(&own[x & 255], 3u);
    atomicAdd(&own[x >> 8 & 255], 3u);
    atomicAdd(&own[256 + (x >> 16 & 255)], 3u);
    atomicAdd(&own[512 + (x >> 24)], 3u);
    atomicAdd(&own[1023 - (x & 127)], 3u);
    atomicAdd(&own[x >> 22], 3u);
    for (u32 k = 0; k < 32; k += 4) atomicAdd(&own[768 + (x >> k & 15)], 3u);
  }
  __syncthreads();
  for (u32 i = threadIdx.x; i < 1024; i += blockDim.x) atomicAdd(&bins[i], own[i]);
}

// The same places, by operations that do not commute with each other.
extern "C" __global__ void fields_in_order(const u32* in, u32* out, u32 n) {
  __shared__ u32 own[256];
  own[threadIdx.x] = threadIdx.x;
  __syncthreads();
  const u32 i = INDEX();
  const u32 x = i < n ? in[i] : 0u;  // each of 256 numbers once in a block
  if (i < n) {
    atomicAdd(&own[x & 255], 5u);
    atomicMax(&own[x & 255], 100u);
    atomicAdd(&own[x & 255], 5u);
    atomicAdd(&own[x & 255], 5u);
    const u32 seen = *(volatile u32*)&own[x & 255];
    atomicXor(&own[x & 255], 0x55u);
    atomicXor(&own[x & 255], 0x0Fu);
    atomicMin(&own[x & 255], 200u);
    out[i] = seen;
  }
  __syncthreads();
  if (i < n) out[n + i] = own[threadIdx.x];
}

// One thread of each block.
extern "C" __global__ void one_thread(u32* tickets, float* f, u64* wide, u32* taken, u32* old) {
  __shared__ u32 own;
  if (threadIdx.x == 0) own = 7;
  __syncthreads();
  if (threadIdx.x == 0) {
    const u32 ticket = atomicAdd(tickets, 1u);
    taken[ticket] = ticket + 1;
    atomicAdd(f, 1.5f);
    atomicMax(wide, (u64)ticket << 33);
    old[0] = atomicCAS(&own, 7u, 9u);
    old[1] = atomicAdd(&own, 5u);
    old[2] = atomicExch(&own, 3u);
    old[3] = atomicInc(&own, 3u);
    old[4] = atomicCAS(&own, 1u, 2u);
    old[5] = __float_as_uint(atomicAdd((float*)&own, 0.25f));
  }
  __syncthreads();
  if (threadIdx.x < gridDim.x) old[6] = own;
}
