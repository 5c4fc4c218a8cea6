// A product of matrices with mma by inline assembly, as libraries write it.
#include <cuda_fp16.h>

__device__ void multiply(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// c = a * b for n x n matrices; a row after row, b column after column. Each warp makes the
/// tile of 16 x 8 that its number names; the block has more warps than there are tiles left.
extern "C" __global__ void gemm(const __half* a, const __half* b, float* c, int n) {
  const int lane = threadIdx.x % 32, group = lane / 4, in_group = lane % 4;
  const int tile = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, across = n / 8;
  if (tile >= n / 16 * across) return;
  const int row = tile / across * 16 + group, column = tile % across * 8;
  float sums[4] = {};
  for (int k = 2 * in_group; k < n; k += 16) {
    auto pair = [](const __half* from) { return *reinterpret_cast<const unsigned*>(from); };
    const __half* from_a = a + row * n + k;
    const __half* from_b = b + (column + group) * n + k;
    const unsigned part_a[4] = {pair(from_a), pair(from_a + 8 * n), pair(from_a + 8),
                                pair(from_a + 8 * n + 8)};
    const unsigned part_b[2] = {pair(from_b), pair(from_b + 8)};
    multiply(sums, part_a, part_b);
  }
  for (int i = 0; i < 4; ++i) c[(row + i / 2 * 8) * n + column + 2 * in_group + i % 2] = sums[i];
}

/// The lanes of a warp come to mma at different times, from a loop that ends lane by lane.
extern "C" __global__ void after_divergence(const unsigned* in, float* out) {
  unsigned word = in[threadIdx.x];
  for (unsigned i = 0; i < threadIdx.x % 5; ++i) word = word * 3 - 2 * word;
  __syncwarp();
  float sums[4] = {1.0f, 2.0f, 3.0f, 4.0f};
  const unsigned a[4] = {word, word, word, word}, b[2] = {word, word};
  multiply(sums, a, b);
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = sums[i];
}
