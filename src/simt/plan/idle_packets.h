// Packets without work: between two barriers, what stands after `if (threadIdx.x < n)` is all that
// is done, so that once a packet is beyond n, those that follow need not run at all.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "simt/plan/values/spill_layout.h"

namespace km::simt {

/// The only threads that have something to do in a region.
struct Workers {
  BlockId branch = kNone;
  size_t slot = 0;  // of the branch: where the work is
  uint32_t threads = 0;
};

/// Finds, for one region at a time, the steps after which no later packet has anything to do.
class IdlePackets {
 public:
  IdlePackets(const Plan& plan, const EntryMasks& masks, const SpillLayout& spills)
      : plan_(plan), masks_(masks), spills_(spills) {}

  /// Begins with a region, to which all answers refer.
  void begin(uint32_t region);
  /// Which threads have something to do in the region; nothing: not known beforehand.
  const std::optional<Workers>& workers() const { return workers_; }
  /// True if, once no lane of a packet comes to `step`, no later packet has anything to do in the
  /// region.
  bool is_rest_idle(uint32_t step);

 private:
  struct LowThreads {
    std::optional<uint64_t> count;  // if it is known
  };

  bool is_thread_number(const Inst& inst, const ptx::Operand& operand) const;
  std::optional<LowThreads> low_threads(const BasicBlock& block, size_t slot) const;
  uint32_t end_of_run(uint32_t first) const;
  bool is_passive(BlockId b, bool may_part) const;
  bool find_left_values() const;
  bool leaves_values();
  uint32_t active_steps(uint32_t first, uint32_t end);
  std::optional<Workers> find_workers();

  const Plan& plan_;
  const EntryMasks& masks_;
  const SpillLayout& spills_;
  uint32_t region_ = 0;
  std::optional<Workers> workers_;
  std::optional<bool> leaves_values_;    // of the region
  std::vector<uint32_t> active_before_;  // by step: how many before it do something
};

}  // namespace km::simt
