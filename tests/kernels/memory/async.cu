// Asynchronous copies, by inline PTX: cp.async with its groups and zero fill, and bulk copies.
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

#define INDEX() (blockIdx.x * blockDim.x + threadIdx.x)

static __device__ u32 shared_address(const void* pointer) {
  return (u32)__cvta_generic_to_shared(pointer);
}

static __device__ void commit_and_wait() {
  asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 0;" ::: "memory");
}

// Every size through shared memory and back; 4 bytes of `in` for each thread, 8, 16, 16.
extern "C" __global__ void copy_sizes(const u32* in, u32* out) {
  __shared__ __align__(16) u32 staged[11 * 64];
  const u32 t = threadIdx.x, block = blockIdx.x * 11 * 64;
  const u32* from = in + block;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(staged + t)),
               "l"(from + t));
  asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 8;" ::"r"(
                   shared_address(staged + 64 + 2 * t)),
               "l"(from + 64 + 2 * t));
  asm volatile("cp.async.commit_group;");
  asm volatile(
      "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(staged + 192 + 4 * t)),
      "l"(from + 192 + 4 * t));
  u64 policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  asm volatile("cp.async.ca.shared::cta.global.L2::cache_hint.L2::64B [%0], [%1], 16, %2;" ::"r"(
                   shared_address(staged + 448 + 4 * (t ^ 5))),
               "l"(from + 448 + 4 * (t ^ 5)), "l"(policy));
  asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 1;\n\tcp.async.wait_all;" ::
                   : "memory");
  __syncthreads();
  for (u32 i = t; i < 11 * 64; i += 64) out[block + i] = staged[i];
}

// What lies behind the source's size is zero, and is not read.
extern "C" __global__ void zero_fill(const u8* in, const u32* places, const u32* sizes, u8* out,
                                     u32 n) {
  __shared__ __align__(16) u8 staged[28 * 96];
  const u32 i = INDEX(), t = threadIdx.x;
  for (u32 k = 0; k < 28; ++k) staged[28 * t + k] = 0xEE;
  __syncthreads();
  if (i < n && i % 5 != 4) {
    const u32 size = sizes[i];
    const u8* from = size == 0 ? (const u8*)0 : in + 16 * places[i];
    asm volatile(
        "cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(staged + 16 * t)),
        "l"(from), "r"(size));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(
                     shared_address(staged + 16 * 96 + 8 * t)),
                 "l"(from), "r"(size < 8 ? size : 8));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(
                     shared_address(staged + 24 * 96 + 4 * t)),
                 "l"(from), "r"(size < 4 ? size : 4));
  }
  commit_and_wait();
  __syncthreads();
  if (i >= n) return;
  for (u32 k = 0; k < 16; ++k) out[28 * i + k] = staged[16 * t + k];
  for (u32 k = 0; k < 8; ++k) out[28 * i + 16 + k] = staged[16 * 96 + 8 * t + k];
  for (u32 k = 0; k < 4; ++k) out[28 * i + 24 + k] = staged[24 * 96 + 4 * t + k];
}

extern "C" __global__ void ignore_source(const u32* in, u32* out) {
  __shared__ __align__(16) u32 staged[4 * 64];
  const u32 t = threadIdx.x;
  const u32* from = t % 3 == 1 ? (const u32*)0 : in + 4 * t;
  asm volatile(
      "{ .reg .pred p; setp.eq.u32 p, %2, 1;\n\t"
      "cp.async.cg.shared.global [%0], [%1], 16, p; }" ::"r"(shared_address(staged + 4 * t)),
      "l"(from), "r"(t % 3));
  commit_and_wait();
  for (u32 k = 0; k < 4; ++k) out[4 * t + k] = staged[4 * t + k];
}

// Two stages in turn: tile i + 1 is on its way while tile i is summed.
extern "C" __global__ void pipelined_sum(const u32* in, u32* sums, u32 tiles) {
  __shared__ __align__(16) u32 stage[2][128];
  const u32 t = threadIdx.x;
  const u32* from = in + blockIdx.x * tiles * 128;
  auto fetch = [&](u32 tile) {
    if (tile < tiles) {
      asm volatile(
          "cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(&stage[tile % 2][t])),
          "l"(from + tile * 128 + t));
    }
    asm volatile("cp.async.commit_group;");
  };
  fetch(0);
  u32 sum = 0;
  for (u32 tile = 0; tile < tiles; ++tile) {
    fetch(tile + 1);
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    sum = sum * 3 + stage[tile % 2][(t + tile) % 128];
    __syncthreads();
  }
  sums[blockIdx.x * 128 + t] = sum;
}

// ---- Bulk copies.

static __device__ void wait_parity(u32 barrier, u32 parity) {
  asm volatile(
      "{\n\t.reg .pred p;\nAGAIN_%=:\n\t"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n\t"
      "@p bra DONE_%=;\n\tbra AGAIN_%=;\nDONE_%=:\n\t}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// Global to shared with an mbarrier, then shared to global in a bulk group.
extern "C" __global__ void bulk_round_trip(const u32* in, u32* out, u32 rounds) {
  extern __shared__ __align__(16) u32 tile[];
  __shared__ __align__(8) u64 barrier;
  const u32 t = threadIdx.x, words = 4 * blockDim.x, at = shared_address(&barrier);
  if (t == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at));
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  __syncthreads();
  for (u32 round = 0; round < rounds; ++round) {
    const u32* from = in + (blockIdx.x * rounds + round) * words;
    u32* to = out + (blockIdx.x * rounds + round) * words;
    if (t == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at),
                   "r"(words * 4));
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
          "[%3];" ::"r"(shared_address(tile)),
          "l"(from), "r"(words * 4), "r"(at)
          : "memory");
    }
    wait_parity(at, round & 1);
    for (u32 i = t; i < words; i += blockDim.x) tile[i] = tile[i] * 2 + round;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
      asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(words * 4));
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                   "r"(shared_address(tile)), "r"(words * 4)
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    __syncthreads();
  }
}

// Shared to shared of the cluster, sizes that differ from lane to lane, and reductions.
extern "C" __global__ void bulk_within(const u32* in, u32* out, u32* sums) {
  __shared__ __align__(16) u32 source[32 * 8], target[32 * 8];
  __shared__ __align__(8) u64 barrier;
  const u32 t = threadIdx.x, at = shared_address(&barrier);
  for (u32 k = 0; k < 8; ++k) {
    source[8 * t + k] = in[8 * t + k];
    target[8 * t + k] = 7;
  }
  if (t == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(at));
  __syncwarp();
  const u32 bytes = 16 * (t % 3);
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes + 16));
  asm volatile(
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, "
      "[%3];" ::"r"(shared_address(target + 8 * t)),
      "r"(shared_address(source + 8 * t)), "r"(bytes), "r"(at)
      : "memory");
  asm volatile(
      "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 "
      "[%0], [%1], 16, [%2];" ::"r"(shared_address(target)),
      "r"(shared_address(source + 8 * t)), "r"(at)
      : "memory");
  wait_parity(at, 0);
  for (u32 k = 0; k < 8; ++k) out[8 * t + k] = target[8 * t + k];
  if (t % 2 == 0) {
    asm volatile(
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.max.u32 [%0], [%1], 32;" ::"l"(sums),
        "r"(shared_address(source + 8 * t))
        : "memory");
    asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::: "memory");
  }
}
