// Sobol's sequences in Gray code order: row y of the grid makes the points of dimension y.
#include "dropin/curand/kernels/inversion.cuh"

using namespace km::curand;

namespace {

__device__ int zeros_below(u32 x) { return __ffs(x) - 1; }
__device__ int zeros_below(u64 x) { return __ffsll(x) - 1; }

/// Thread t makes points t, t + T, t + 2T, ... for T = 2^thread_bits: two bits of the Gray code
/// differ between a point and the next one. Indices wrap with the word.
template <class Word>
__device__ void generate(const SobolParameters& p) {
  constexpr int kBits = sizeof(Word) * 8;
  const Word* const directions = (const Word*)p.directions + u64(blockIdx.y) * kBits;
  const u64 thread = u64(blockIdx.x) * blockDim.x + threadIdx.x;
  const Word index = Word(begin_of(p.first, p.counter) + thread);
  Word x = ((const Word*)p.scrambles)[blockIdx.y];
  const Word gray = index ^ (index >> 1);
  for (int bit = 0; bit < kBits; ++bit) {
    if (gray >> bit & 1) x ^= directions[bit];
  }
  const Word lower = directions[p.thread_bits - 1];
  Word turn = index >> p.thread_bits;
  const u64 begin = blockIdx.y * p.count;
  for (u64 i = thread; i < p.count; i += u64(1) << p.thread_bits) {
    put(p, x, begin + i);
    const int changed = p.thread_bits + zeros_below(Word(~turn));
    x ^= lower ^ directions[changed < kBits ? changed : kBits - 1];
    ++turn;
  }
}

}  // namespace

extern "C" __global__ void generate_sobol32(const SobolParameters p) { generate<u32>(p); }
extern "C" __global__ void generate_sobol64(const SobolParameters p) { generate<u64>(p); }
