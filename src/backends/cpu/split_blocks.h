// Mode c: blocks whose warps wait for each other, for other blocks, or have lanes that wait for
// each other. A thread keeps several blocks going in turn, and takes more while all of its own
// wait.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/cpu/address_space.h"
#include "backends/cpu/warps.h"
#include "simt/abi.h"

namespace km::cpu {

/// Blocks that one thread keeps going at the same time, at most.
constexpr uint32_t kMaxResidentBlocks = 256;

/// What a block needs while it runs.
class SplitBlock {
 public:
  /// Memory for blocks of that kind; false: none left.
  bool prepare(uint64_t shared_bytes, uint64_t scratch_bytes, uint32_t warp_count);
  /// A block begins; `state` has everything but the memory.
  void begin(const simt::BlockState& state, uint32_t thread_count);

  enum class Turn { finished, progress, waiting, deadlock };
  /// Every warp that can goes on until it waits.
  Turn run(const simt::LaunchRecord* record, simt::SplitEntry entry);

  /// RuntimeTable::split_barrier.
  void arrive(simt::SplitWarp* warp, uint32_t lanes, uint32_t id, uint32_t thread_count,
              uint32_t predicates, bool waits, uint32_t state);

  simt::BlockState* state() { return &state_; }

 private:
  struct Barrier {
    uint32_t arrived = 0;   // threads
    uint32_t expected = 0;  // threads, 0: all of the block
    uint32_t predicates = 0;
    std::array<uint32_t, kMaxWarps> waiting{};  // lanes, by warp
  };

  simt::SplitWarp& warp(uint32_t index);
  bool is_complete(const Barrier& barrier, uint32_t exited) const;
  void release(Barrier& barrier);
  bool release_complete(bool count_exited);

  simt::BlockState state_{};
  GuardedRange window_, scratch_;
  uint64_t allowed_bytes_ = 0;
  bool has_shared_ = false;     // else the window is left from another kernel
  uint64_t scratch_bytes_ = 0;  // of a warp
  uint32_t thread_count_ = 0, exited_ = 0;
  uint32_t unfinished_ = 0;  // a bit per warp
  bool released_ = false;    // a barrier, in this turn
  std::array<Barrier, kMaxBarriers> barriers_{};
};

}  // namespace km::cpu
