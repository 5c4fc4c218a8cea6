// MT19937: Matsumoto and Nishimura's Mersenne Twister, 8192 sequences that take turns.
#include "dropin/curand/kernels/inversion.cuh"

using namespace km::curand;

namespace {

constexpr u32 kWords = kTwisterWords, kMiddle = 397, kOld = kWords - kMiddle;

__device__ u32 twist(u32 upper, u32 lower, u32 middle) {
  const u32 y = (upper & 0x80000000u) | (lower & 0x7fffffffu);
  return middle ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
}

__device__ u32 tempered(u32 y) {
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ (y >> 18);
}

/// Replaces words begin to end of `count` states by those a cycle later: at most kOld of each,
/// which do not need each other.
__device__ void twist_part(u32* states, u32 count, u32 begin, u32 end) {
  constexpr u32 kMost = (kTwisterGroup * kOld + kTwisterThreads - 1) / kTwisterThreads;
  const u32 part = end - begin;
  u32 made[kMost];
#pragma unroll 1
  for (u32 k = 0; k < kMost; ++k) {
    const u32 at = k * kTwisterThreads + threadIdx.x;
    if (at >= part * count) break;
    const u32* const state = states + at / part * kWords;
    const u32 i = begin + at % part;
    made[k] = twist(state[i], state[(i + 1) % kWords], state[(i + kMiddle) % kWords]);
  }
  __syncthreads();
#pragma unroll 1
  for (u32 k = 0; k < kMost; ++k) {
    const u32 at = k * kTwisterThreads + threadIdx.x;
    if (at >= part * count) break;
    states[at / part * kWords + begin + at % part] = made[k];
  }
  __syncthreads();
}

__device__ void twist_states(u32* states, u32 count) {
  twist_part(states, count, 0, kOld);
  twist_part(states, count, kOld, 2 * kOld);
  twist_part(states, count, 2 * kOld, kWords);
}

/// The word of a cycle that is a sequence's number `lane` in turn `round`: the first turn takes the
/// words before each 56 or 112 that the other turns take.
__device__ u32 word_of(u32 round, u32 lane) {
  constexpr u32 kFirst[kTwisterLanes] = {0, 113, 170, 283, 340, 397, 510, 567};
  constexpr u32 kBegin[] = {1, 57, 114, 171, 227, 284, 341, 398, 454, 511, 568};
  if (round == 0) return kFirst[lane];
  return kBegin[(round - 1) / 7] + (round - 1) % 7 + lane * 7;
}

/// MT19937's uniform numbers are rounded once, and do not reach 1 as f64.
__device__ void put_number(const TwisterParameters& p, u32 x, u64 i) {
  const double u = inner_uniform(x);
  switch (p.distribution) {
    case kUniform:
      ((float*)p.out)[i] = float(u);
      break;
    case kUniformDouble:
      ((double*)p.out)[i] = u;
      break;
    case kPoissonNormal:
      ((u32*)p.out)[i] = u32(float(p.mean) + float(p.deviation) * normal(x) + 0.5f);
      break;
    default:
      put(p, x, i);
  }
}

}  // namespace

extern "C" __global__ void generate_mt19937(const TwisterParameters p) {
  constexpr u32 kTurn = kTwisterGroup * kTwisterLanes;  // numbers of a block in a turn
  constexpr u64 kRound = u64(kTwisterSequences) * kTwisterLanes, kCycle = kRound * kTwisterRounds;
  __shared__ u32 states[kTwisterGroup * kWords];
  __shared__ u16 words[kWords];
  constexpr u32 kGroups = kTwisterSequences / kTwisterGroup;
  const u32 t = threadIdx.x;
  const u64 first = begin_of(p.first, p.counter), end = first + p.count;
  // The states stand at the cycle of the last number that has been given.
  const u64 now = first == 0 ? 0 : (first - 1) / kCycle, last = (end - 1) / kCycle;
  if (last == now && blockIdx.x > (end - 1) / kTurn - first / kTurn) return;
  const u32 group = u32((first / kTurn + blockIdx.x) % kGroups);
  u32* const saved = (u32*)p.states + u64(group) * kTwisterGroup * kWords;
  for (u32 i = t; i < kTwisterGroup * kWords; i += kTwisterThreads) states[i] = saved[i];
  for (u32 i = t; i < kWords; i += kTwisterThreads) {
    words[i] = word_of(i / kTwisterLanes, i % kTwisterLanes);
  }
  __syncthreads();
  for (u64 cycle = now;; ++cycle) {
    const u64 begin = cycle * kCycle + u64(group) * kTurn;
    const u64 rounds_end = begin < end ? (end - begin + kRound - 1) / kRound : 0;
    const u32 most = rounds_end < kTwisterRounds ? u32(rounds_end) : kTwisterRounds;
    const u32 least = first >= begin + kRound ? u32((first - begin) / kRound) : 0;
    for (u32 i = least * kTurn + t; i < most * kTurn; i += kTwisterThreads) {
      const u32 round = i / kTurn, place = i % kTurn;
      const u64 number = begin + round * kRound + place;
      if (number < first || number >= end) continue;
      const u32 word = words[round * kTwisterLanes + place % kTwisterLanes];
      put_number(p, tempered(states[place / kTwisterLanes * kWords + word]), number - first);
    }
    if (cycle == last) break;
    __syncthreads();
    twist_states(states, kTwisterGroup);
  }
  if (last == now) return;
  for (u32 i = t; i < kTwisterGroup * kWords; i += kTwisterThreads) saved[i] = states[i];
}

/// Block b: state known + b is a sum, without carries, of later windows of state b's words, one for
/// each term. A window of the words and the next one lie in shared memory at a time.
extern "C" __global__ void jump_mt19937(const JumpParameters p) {
  __shared__ u32 windows[2 * kWords];
  const u16* const terms = (const u16*)p.terms;
  const u32* const bounds = (const u32*)p.bounds;
  const u32* const from = (const u32*)p.states + u64(blockIdx.x) * kWords;
  u32* const to = (u32*)p.states + (u64(p.known) + blockIdx.x) * kWords;
  const u32 t = threadIdx.x;
  u32* const next = windows + kWords;
  for (u32 i = t; i < kWords; i += kTwisterThreads) next[i] = from[i];
  __syncthreads();
  u32 sums[3] = {0, 0, 0};
  constexpr u32 kExponents = 19937;
  for (u32 part = 0; part * kWords < kExponents; ++part) {
    for (u32 i = t; i < kWords; i += kTwisterThreads) windows[i] = next[i];
    __syncthreads();
    twist_states(next, 1);
    for (u32 i = bounds[part]; i < bounds[part + 1]; ++i) {
      const u32* const window = windows + (terms[i] - part * kWords) + t;
      sums[0] ^= window[0];
      sums[1] ^= window[kTwisterThreads];
      if (t + 2 * kTwisterThreads < kWords) sums[2] ^= window[2 * kTwisterThreads];
    }
    __syncthreads();
  }
  for (u32 k = 0; k < 3; ++k) {
    if (t + k * kTwisterThreads < kWords) to[t + k * kTwisterThreads] = sums[k];
  }
}
