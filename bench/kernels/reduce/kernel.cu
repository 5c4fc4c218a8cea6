// Sums of n floats. Blocks of 256 threads; one partial sum per block.

// Each block adds 512 neighbours, by a tree in shared memory.
extern "C" __global__ void reduce_tree(const float* values, float* sums, int n) {
  __shared__ float tree[256];
  const int t = threadIdx.x, i = blockIdx.x * 512 + t;
  tree[t] = (i < n ? values[i] : 0.0f) + (i + 256 < n ? values[i + 256] : 0.0f);
  __syncthreads();
  for (int distance = 128; distance > 0; distance /= 2) {
    if (t < distance) tree[t] += tree[t + distance];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = tree[0];
}

__device__ float sum_of_warp(float sum) {
  for (int distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_down_sync(~0u, sum, distance);
  }
  return sum;
}

// Threads stride over the whole array; then warps add by shuffles.
extern "C" __global__ void reduce_shfl(const float* values, float* sums, int n) {
  __shared__ float of_warps[8];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float sum = 0.0f;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += values[i];
  sum = sum_of_warp(sum);
  if (lane == 0) of_warps[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = sum_of_warp(lane < 8 ? of_warps[lane] : 0.0f);
    if (lane == 0) sums[blockIdx.x] = sum;
  }
}
