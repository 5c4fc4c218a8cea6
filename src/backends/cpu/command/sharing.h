// How many threads share a kernel's blocks, and in which chunks they take them. The rule is alone
// here so that bench/scale/schedule.cpp simulates what the pool does.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/assert.h"

namespace km::cpu {

struct Sharing {
  uint64_t chunk = 1;     // blocks that a thread takes at least
  uint64_t cut = 16;      // a chunk is 1 / cut of what is left of a part
  uint32_t threads = 1;   // that the work is worth
  uint32_t most = 1;      // that may take part
  float expected_ns = 0;  // until the work ends; 0: not known, or nothing follows from it
};

constexpr float kWakeNs = 6'000;  // work that is about worth waking a thread for
/// The time for which each thread that joins and leaves holds up the others: a dozen changes of
/// lines that all threads of a command change.
constexpr float kJoinNs = 800;

/// The number of threads, at most `threads`, with which work that takes one of them `all_ns` ends
/// first. n threads take all_ns / n and n * kJoinNs, the least of which is at the square root of
/// the quotient.
inline uint32_t threads_worth(float all_ns, uint32_t threads) {
  const float woken = 1 + all_ns / kWakeNs, joined = std::sqrt(all_ns / kJoinNs);
  return static_cast<uint32_t>(
      std::clamp(std::min(woken, joined), 1.0F, static_cast<float>(threads)));
}

/// The way in which `pieces` blocks of `block_ns` each are shared: a time of 0 is not known. With
/// `by_all`, all threads may take part, however short the work.
inline Sharing sharing_of(float block_ns, uint64_t pieces, uint32_t threads, bool by_all) {
  KM_ASSERT(threads != 0 && pieces != 0, "nothing is shared, or by no thread");
  constexpr float kLeastNs = kWakeNs / 3;  // for a chunk
  constexpr float kShortNs = 500'000;      // fewer chunks, because each one has a cost
  Sharing sharing;
  sharing.most = sharing.threads = static_cast<uint32_t>(std::min<uint64_t>(threads, pieces));
  if (block_ns <= 0) return sharing;
  const float all_ns = block_ns * static_cast<float>(pieces);
  sharing.threads = threads_worth(all_ns, sharing.most);
  if (!by_all && sharing.threads < sharing.most) {
    sharing.most = sharing.threads;
    sharing.expected_ns = 2 * (all_ns / static_cast<float>(sharing.threads) + kWakeNs);
  }
  const auto least = static_cast<uint64_t>(kLeastNs / block_ns);
  const uint64_t share = (pieces + sharing.most - 1) / sharing.most;
  sharing.chunk = std::max<uint64_t>(std::min(least, share), 1);
  if (all_ns < kShortNs) sharing.cut = 4;
  return sharing;
}

}  // namespace km::cpu
