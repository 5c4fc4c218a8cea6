// The order of one block's threads, as far as barriers, fences and atomics make it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/cpu/check/access_record.h"
#include "backends/cpu/check/copy_groups.h"
#include "backends/cpu/check/knowledge.h"
#include "simt/abi.h"

namespace km::cpu {

/// Logical time of a block and what its threads know of each other and of other blocks. Time
/// advances at everything that orders threads, so that accesses before and after differ in it.
class BlockClock {
 public:
  /// Begins a block of the grid.
  void begin(uint32_t block, uint32_t thread_count);

  uint32_t block() const { return block_; }
  uint32_t now() const { return tick_; }

  /// True if an access of this launch happened before what `thread` does now.
  bool is_ordered(const AccessRecord& access, uint32_t thread) const;

  /// True if it happened before what all lanes of a warp do now, of which `now` stands for several.
  /// Valid if the warp's lanes know the same.
  bool is_ordered_for_warp(const AccessRecord& access, const AccessRecord& now) const;
  /// True if the lanes of the warp know the same of others.
  bool has_equal_lanes(uint32_t warp) const { return threads_.empty() && !lane_ticks_[warp]; }
  /// The time of the last barrier of the whole block.
  uint32_t barrier_tick() const { return barrier_tick_; }
  /// True if all threads of the block have met since this time.
  bool has_passed_barrier(uint32_t tick) const { return tick < barrier_tick_; }

  // ---- Barriers.
  /// A warp arrives at a barrier, and waits there or not.
  void arrive(uint32_t barrier, uint32_t warp, bool waits);
  /// The barrier opens: the warps that wait know what those that arrived did.
  void open(uint32_t barrier, bool is_whole_block);
  /// bar.warp.sync: lanes of a warp have met.
  void sync_warp(uint32_t warp, uint32_t lanes);
  /// The next instruction of a warp whose lanes run in step: what they did before is over.
  void step_warp(uint32_t warp) { warp_ticks_[warp] = ++tick_; }

  /// Lanes of a warp exchange values. That orders nothing that they did, but what one of them has
  /// acquired from others is known to all: CUDA's own headers rely on it.
  void exchange(uint32_t warp, uint32_t lanes);

  // ---- Asynchronous copies.
  /// Lanes, of which lane 0 is `first_thread`, end a group of copies or wait for groups
  /// (CheckRuntime::report_copies).
  void end_copies(uint32_t first_thread, uint32_t lanes, simt::CopyKind kind, uint32_t pending);

  /// The access of a copy as one of its thread if that has waited for it; others as they are.
  AccessRecord without_waited_copy(const AccessRecord& access) const;

  // ---- Fences, releases and acquires.
  void fence(uint32_t thread, simt::MemoryScope scope);
  /// The knowledge that a release of the thread publishes: all that it did and knew at its last
  /// fence, or does and knows now if the operation itself releases. Null: it publishes nothing.
  SharedKnowledge published(uint32_t thread, bool releases, simt::MemoryScope scope);
  /// The knowledge that the mbarrier object of the thread's asynchronous copy publishes: all that
  /// the thread did and knows now, and its copies.
  SharedKnowledge published_by_copy(uint32_t thread);
  /// The thread has read what another one published; without an acquire of its own it knows that
  /// only after its next fence.
  void acquire(uint32_t thread, const SharedKnowledge& known, bool acquires);
  /// The part of what the thread has read that threads of its own block published.
  void acquire_in_block(uint32_t thread, const SharedKnowledge& known);
  /// All that the block's threads did and know, for the other blocks of a cluster.
  SharedKnowledge all_known();
  /// All threads of the block know this.
  void learn(const SharedKnowledge& known);

 private:
  static constexpr uint32_t kWarps = 32, kBarriers = 32;
  /// A thread's part of fences, acquires and warps that met in part.
  struct Thread {
    SharedKnowledge acquired, pending;
    SharedKnowledge block_pending;  // the part of it that a fence of the block's scope acquires
    SharedKnowledge fenced;         // at the last fence of the device's scope or a wider one
    SharedKnowledge block_fenced;   // at the last fence of the block's scope or a wider one
  };
  struct Arrivals {
    uint32_t arrived = 0, waiting = 0;     // one bit per warp
    std::array<uint32_t, kWarps> ticks{};  // when the warp arrived
  };
  using Lanes = std::array<std::array<uint32_t, simt::kWarpLanes>, simt::kWarpLanes>;

  Thread& thread(uint32_t index);
  bool knows(const Knowledge* known, const AccessRecord& access) const;
  SharedKnowledge snapshot(uint32_t thread, bool of_copy = false);
  void carry_fences(uint32_t warp, uint32_t lanes, Thread* met);
  void take_fences(uint32_t warp, uint32_t lanes, const Thread& met);
  void meet(uint32_t arrived, uint32_t waiting);
  bool is_copy_ordered(const AccessRecord& copy, uint32_t thread) const;
  bool knows_in_block(const AccessRecord& access, uint32_t thread) const;

  uint32_t block_ = 0, thread_count_ = 0;
  uint32_t tick_ = 1;
  uint32_t barrier_tick_ = 0;                              // of the last barrier of the whole block
  std::array<uint32_t, kWarps> warp_ticks_{};              // when all lanes of a warp last met
  std::array<std::unique_ptr<Lanes>, kWarps> lane_ticks_;  // when two lanes last met
  bool has_partial_barriers_ = false;
  std::array<std::array<uint32_t, kWarps>, kWarps> warps_met_{};  // what a warp knows of another
  std::array<Arrivals, kBarriers> arrivals_{};
  CopyGroups copies_;
  SharedKnowledge known_;        // to all threads, from other blocks
  std::vector<Thread> threads_;  // empty until one fences or acquires
};

}  // namespace km::cpu
