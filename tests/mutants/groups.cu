// Cooperative groups, and clusters of blocks. mutants.h says what the marks mean.
#include <cooperative_groups.h>
#include "mutants.h"

namespace cg = cooperative_groups;

// run: 4 128 random[512] zeros[4]
KERNEL sum_of_a_group(const int* a, int* out) {
  __shared__ int s[128];
  const cg::thread_block block = cg::this_thread_block();
  s[T] = a[I];
  block.sync();  // mutant: barrier
  for (int k = 64; k > 0; k /= 2) {
    if (T < k) s[T] += s[T + k];
    block.sync();  // mutant: barrier
  }
  if (T == 0) out[B] = s[0];
}

// run: 4 128 random[512] zeros[512]
KERNEL tiles_of_sixteen(const int* a, int* out) {
  __shared__ int s[128];
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const int base = T / 16 * 16, rank = static_cast<int>(tile.thread_rank());
  s[T] = a[I];
  tile.sync();  // mutant: warp barrier
  const int other = s[base + 15 - rank];
  tile.sync();  // mutant: warp barrier
  s[T] = other + rank;
  tile.sync();  // mutant: warp barrier
  out[I] = s[base + (rank + 1) % 16];
}

// run: 4 128 random[512] zeros[1] zeros[512]
KERNEL places_of_coalesced_threads(const int* a, int* count, int* out) {
  if (a[I] % 3 != 0) return;
  const cg::coalesced_group active = cg::coalesced_threads();
  int begin = 0;
  if (active.thread_rank() == 0) begin = atomicAdd(count, static_cast<int>(active.size()));
  begin = active.shfl(begin, 0);
  out[begin + active.thread_rank()] = a[I];
}

// run: 4 64 random[256] zeros[256] arch=90
KERNEL __cluster_dims__(2, 1, 1) neighbours_of_a_cluster(const int* a, int* out) {
  __shared__ int s[64];
  const cg::cluster_group cluster = cg::this_cluster();
  s[T] = a[I];
  cluster.sync();  // mutant: barrier
  const int* const other = cluster.map_shared_rank(s, 1 - cluster.block_rank());
  out[I] = other[63 - T];
  // The other block may still read what this one keeps, which ends with it.
  cluster.sync();  // mutant: barrier
}
