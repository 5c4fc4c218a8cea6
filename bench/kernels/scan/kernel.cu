// Inclusive prefix sums in one pass: each block scans a tile of 1024 elements by shuffles and looks
// back over the tiles before it. `states` has a word per tile (what is known of it, and a sum),
// behind the number of tiles that have begun; all of it is zero when the kernel starts.
using Word = unsigned long long;
constexpr Word kSumOfTile = Word{1} << 32, kSumToTile = Word{2} << 32;

__device__ unsigned scan_warp(unsigned sum, int lane) {
  for (int distance = 1; distance < 32; distance *= 2) {
    const unsigned before = __shfl_up_sync(~0u, sum, distance);
    if (lane >= distance) sum += before;
  }
  return sum;
}

// The sum of all tiles before `tile`, by one warp.
__device__ unsigned look_back(const volatile Word* states, int tile, int lane) {
  unsigned sum = 0;
  for (int last = tile - 1;; last -= 32) {
    const int other = last - lane;
    Word word;
    do {
      word = other >= 0 ? states[other] : kSumToTile;
    } while (__any_sync(~0u, word >> 32 == 0));
    const unsigned complete = __ballot_sync(~0u, word >> 32 == 2);
    const bool counts = complete == 0 || lane < __ffs(complete);
    sum += __reduce_add_sync(~0u, counts ? static_cast<unsigned>(word) : 0u);
    if (complete != 0) return sum;
  }
}

extern "C" __global__ void scan(const uint4* values, uint4* sums, Word* control) {
  __shared__ unsigned of_warps[8], before_tile;
  __shared__ int shared_tile;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x == 0) shared_tile = static_cast<int>(atomicAdd(control, 1));
  __syncthreads();
  const int tile = shared_tile;
  volatile Word* const states = control + 1;

  uint4 own = values[tile * 256 + threadIdx.x];
  own.y += own.x;
  own.z += own.y;
  own.w += own.z;
  const unsigned to_here = scan_warp(own.w, lane);
  if (lane == 31) of_warps[warp] = to_here;
  __syncthreads();
  if (warp == 0) {
    const unsigned of_warp = lane < 8 ? of_warps[lane] : 0;
    const unsigned to_warp = scan_warp(of_warp, lane);
    const unsigned of_tile = __shfl_sync(~0u, to_warp, 7);
    if (lane < 8) of_warps[lane] = to_warp - of_warp;
    if (lane == 0) states[tile] = (tile == 0 ? kSumToTile : kSumOfTile) | of_tile;
    const unsigned before = tile == 0 ? 0 : look_back(states, tile, lane);
    if (lane == 0) {
      states[tile] = kSumToTile | (before + of_tile);
      before_tile = before;
    }
  }
  __syncthreads();
  const unsigned before = before_tile + of_warps[warp] + to_here - own.w;
  sums[tile * 256 + threadIdx.x] =
      make_uint4(own.x + before, own.y + before, own.z + before, own.w + before);
}
