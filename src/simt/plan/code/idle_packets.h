// Finds packets without work: if the code between two barriers is all under `if (threadIdx.x < n)`,
// packets beyond n need not run at all.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "simt/plan/values/spill_layout.h"

namespace km::simt {

/// The only threads with work in a region.
struct Workers {
  BlockId branch = kNone;
  size_t slot = 0;  // successor slot of the branch that leads to the work
  uint32_t threads = 0;
};

/// Finds, for one region at a time, the steps after which no later packet has work.
class IdlePackets {
 public:
  IdlePackets(const Plan& plan, const EntryMasks& masks, const SpillLayout& spills)
      : plan_(plan), masks_(masks), spills_(spills) {}

  /// Selects the region to which all answers refer.
  void begin(uint32_t region);
  /// The threads with work in the region; nothing if they are not known in advance.
  const std::optional<Workers>& workers() const { return workers_; }
  /// True if no later packet has work in the region once no lane of a packet reaches `step`.
  bool is_rest_idle(uint32_t step);

 private:
  struct LowThreads {
    std::optional<uint64_t> count;  // the number, if it is a known constant
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
  std::optional<bool> leaves_values_;    // result for the region, once computed
  std::vector<uint32_t> active_before_;  // by step: number of earlier steps with an effect
};

}  // namespace km::simt
