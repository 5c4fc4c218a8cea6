// MTGP32: Saito and Matsumoto's Mersenne Twister, 256 numbers of a sequence at once.
#include "dropin/curand/kernels/inversion.cuh"

using namespace km::curand;

namespace {

/// The entry of a table that is linear: the sum of the rows for the index's bits.
__device__ u32 entry(const unsigned (&rows)[4], u32 index) {
  return (index & 1 ? rows[0] : 0) ^ (index & 2 ? rows[1] : 0) ^ (index & 4 ? rows[2] : 0) ^
         (index & 8 ? rows[3] : 0);
}

}  // namespace

/// The state before a step stays as it is until all numbers of the step have been asked for.
extern "C" __global__ void generate_mtgp32(const MtgpParameters p) {
  constexpr u32 kRing = 1024;
  __shared__ u32 state[kRing];
  const MtgpSet set = ((const MtgpSet*)p.sets)[blockIdx.x];
  u32* const saved = (u32*)p.states + blockIdx.x * kMtgpWords;
  const u32 t = threadIdx.x;
  state[t] = saved[t];
  if (t + kMtgpStep < kMtgpWords) state[t + kMtgpStep] = saved[t + kMtgpStep];
  __syncthreads();
  const u64 first = begin_of(p.first, p.counter);
  const u64 round = u64(gridDim.x) * kMtgpStep, end = first + p.count;
  // The step of this block that holds, or comes after, the first number.
  const u64 own = u64(blockIdx.x) * kMtgpStep;
  const u64 passed = first >= own + kMtgpStep ? (first - own - kMtgpStep) / round + 1 : 0;
  u32 offset = 0;
  for (u64 begin = own + passed * round; begin < end; begin += round) {
    const u32 at = offset + t;
    u32 x = (state[at % kRing] & 0xfff80000u) ^ state[(at + 1) % kRing];
    x ^= x << set.left;
    const u32 y = x ^ (state[(at + set.pick_up) % kRing] >> set.right);
    const u32 made = y ^ entry(set.recursion, y & 15);
    u32 helper = state[(at + set.pick_up - 1) % kRing];
    helper ^= helper >> 16;
    helper ^= helper >> 8;
    const u64 number = begin + t;
    if (number >= first && number < end) {
      put(p, made ^ entry(set.tempering, helper & 15), number - first);
    }
    if (begin + kMtgpStep > end) break;
    state[(at + kMtgpWords) % kRing] = made;
    offset = (offset + kMtgpStep) % kRing;
    __syncthreads();
  }
  saved[t] = state[(offset + t) % kRing];
  if (t + kMtgpStep < kMtgpWords) {
    saved[t + kMtgpStep] = state[(offset + t + kMtgpStep) % kRing];
  }
}
