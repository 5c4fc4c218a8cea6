// Clusters of several blocks and cooperative grids, by CUDA's cooperative groups and inline PTX.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;
typedef unsigned int u32;
typedef unsigned long long u64;

static __device__ u32 shared_address(const void* pointer) {
  return (u32)__cvta_generic_to_shared(pointer);
}

// Each block reads what every other one left in its shared memory, in several rounds.
extern "C" __global__ void exchange(u32* out, u32 rounds) {
  extern __shared__ u32 values[];
  cg::cluster_group cluster = cg::this_cluster();
  const u32 t = cluster.thread_rank() % blockDim.x, blocks = cluster.num_blocks();
  u32 sum = cluster.block_rank() * 1000 + t;
  for (u32 r = 0; r < rounds; ++r) {
    values[t] = sum;
    cluster.sync();
    u32 next = 0;
    for (u32 b = 0; b < blocks; ++b) {
      const u32* theirs = cluster.map_shared_rank(values, b);
      next += theirs[(t + b) % blockDim.x] * (b + 1);
    }
    sum = next;
    cluster.sync();
  }
  const u32 block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  out[block * blockDim.x + t] = sum;
}

// Where a thread is, by all registers about clusters.
extern "C" __global__ void registers(u32* out) {
  u32 r[15];
  asm("mov.u32 %0, %%clusterid.x;" : "=r"(r[0]));
  asm("mov.u32 %0, %%clusterid.y;" : "=r"(r[1]));
  asm("mov.u32 %0, %%clusterid.z;" : "=r"(r[2]));
  asm("mov.u32 %0, %%nclusterid.x;" : "=r"(r[3]));
  asm("mov.u32 %0, %%nclusterid.y;" : "=r"(r[4]));
  asm("mov.u32 %0, %%nclusterid.z;" : "=r"(r[5]));
  asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(r[6]));
  asm("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(r[7]));
  asm("mov.u32 %0, %%cluster_ctaid.z;" : "=r"(r[8]));
  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(r[9]));
  asm("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(r[10]));
  asm("mov.u32 %0, %%cluster_nctaid.z;" : "=r"(r[11]));
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r[12]));
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(r[13]));
  asm("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(r[14]));
  const u32 block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  for (u32 k = 0; k < 15; ++k) out[(block * blockDim.x + threadIdx.x) * 15 + k] = r[k];
}

// Addresses in other blocks' shared memory, 32 bits wide and generic, by lane.
extern "C" __global__ void __cluster_dims__(4, 1, 1) addresses(u32* out) {
  __shared__ u32 values[64];
  const u32 t = threadIdx.x, rank = cg::this_cluster().block_rank(), other = t % 4;
  values[t] = rank * 100 + t;
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
  u32 narrow, loaded, of_narrow, of_wide, again, within;
  u64 wide;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(narrow)
      : "r"(shared_address(values + t)), "r"(other));
  asm("mapa.u64 %0, %1, %2;" : "=l"(wide) : "l"(values + t), "r"(other));
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(loaded) : "r"(narrow) : "memory");
  asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(of_narrow) : "r"(narrow));
  asm("getctarank.u64 %0, %1;" : "=r"(of_wide) : "l"(wide));
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(again) : "r"(narrow), "r"(rank));
  asm("{ .reg .pred p, q, r; isspacep.shared::cluster p, %1; isspacep.shared::cta q, %1;"
      " isspacep.global r, %1; selp.u32 %0, 1, 0, p; @r add.u32 %0, %0, 4; }"
      : "=r"(within)
      : "l"(wide));
  u32* row = out + (blockIdx.x * blockDim.x + t) * 6;
  row[0] = loaded;
  row[1] = *(u32*)wide;
  row[2] = of_narrow;
  row[3] = of_wide;
  row[4] = again == shared_address(values + t);
  row[5] = within;
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

// A histogram over the shared memory of a cluster: each block holds a part of the bins.
extern "C" __global__ void histogram(const u32* data, u32 n, u32* bins) {
  __shared__ u32 part[32];
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x < 32) part[threadIdx.x] = 0;
  cluster.sync();
  const u32 count = 32 * cluster.num_blocks(), rank = cluster.block_rank();
  const u32 threads = cluster.num_threads();
  for (u32 i = rank * blockDim.x + threadIdx.x; i < n; i += threads) {
    const u32 bin = data[i] % count;
    atomicAdd(cluster.map_shared_rank(part, bin / 32) + bin % 32, 1u);
  }
  cluster.sync();
  if (threadIdx.x < 32) atomicAdd(bins + rank * 32 + threadIdx.x, part[threadIdx.x]);
}

// One block copies for all of them, and each waits at a barrier object of its own.
extern "C" __global__ void multicast(const u32* in, u32* out) {
  __shared__ alignas(16) u32 values[64];
  __shared__ u64 barrier;
  cg::cluster_group cluster = cg::this_cluster();
  const u32 at = shared_address(&barrier), rank = cluster.block_rank();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" ::"r"(at) : "memory");
  }
  if (threadIdx.x < 64) values[threadIdx.x] = 7;
  cluster.sync();
  if (rank == 1 && threadIdx.x == 0) {
    const unsigned short who = 0xD;  // all but block 1
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1], 128, [%2], %3;" ::"r"(shared_address(values)),
        "l"(__cvta_generic_to_global(in)), "r"(at), "h"(who)
        : "memory");
  }
  u32 done = rank == 1;
  while (!done) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;"
        " selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(at)
        : "memory");
  }
  __syncthreads();
  if (threadIdx.x < 64) out[blockIdx.x * 64 + threadIdx.x] = values[threadIdx.x];
  cluster.sync();
}

// Blocks that are over count as arrived; lanes of a warp come apart before the barrier.
extern "C" __global__ void early_exit(u32* out) {
  __shared__ u32 value;
  cg::cluster_group cluster = cg::this_cluster();
  const u32 rank = cluster.block_rank();
  if (rank == 2) return;
  if (threadIdx.x == 0) value = rank + 10;
  if (threadIdx.x % 2 == 0) {
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
  } else {
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
  }
  const u32 left = *cluster.map_shared_rank(&value, rank == 3 ? 0 : rank == 0 ? 1 : 3);
  out[blockIdx.x * blockDim.x + threadIdx.x] = left;
  cluster.sync();
}

// Every thread of the grid sees what all others wrote before.
extern "C" __global__ void grid_sync(u32* values, u32* out, u32 rounds) {
  cg::grid_group grid = cg::this_grid();
  const u32 i = grid.thread_rank(), n = grid.num_threads();
  u32 value = i;
  for (u32 r = 0; r < rounds; ++r) {
    values[i] = value;
    grid.sync();
    value = 3 * value + values[(i * 7 + 1 + r) % n] + values[n - 1 - i];
    grid.sync();
  }
  out[i] = value;
}
