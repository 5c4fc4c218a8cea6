// Polls: the loads of a loop by which its branches depend on memory that other threads may change.
#pragma once

#include <memory>
#include <vector>

#include "simt/analysis/shape.h"
#include "simt/kernel/kernel.h"

namespace km::simt {

/// A load that must observe stores of other threads while the kernel runs: atomic, volatile,
/// acquire, or past the L1 cache (ld.cv, ld.cg). Atomic operations and waits for barriers in memory
/// also count.
bool is_strong_load(const ptx::Instruction& instruction);

/// The uses of each value of a kernel.
class ValueUses {
 public:
  explicit ValueUses(const Kernel& kernel);

  struct Use {
    BlockId block = kNone;
    const Inst* inst = nullptr;  // null: the block's branch, or a phi
    ValueId phi = kNone;         // the phi's result
  };
  const std::vector<Use>& of(ValueId value) const { return uses_[value]; }

 private:
  std::vector<std::vector<Use>> uses_;
};

/// The polls of one loop. A value depends on a poll through registers, through memory that the loop
/// stores to, and through the branches that select values or guard a store.
///
/// Three kinds of loads are polls: strong ones; weak ones in a loop that also orders memory
/// (fences, barriers, releases and acquires), unless the branch compares them with a counter; and
/// weak ones from one location that alone decide a branch, since only another thread's store can
/// make such a loop iterate more than once.
class LoopPolls {
 public:
  /// `graph` must be the kernel's. It is shared, because a copy per loop would take quadratic
  /// space.
  LoopPolls(const Kernel& kernel, const Graph& graph, const Shapes& shapes, const ValueUses& uses,
            uint32_t loop);
  ~LoopPolls();

  /// A poll that the branch at the end of `block` depends on; null if there is none.
  const Inst* at(BlockId block) const;

 private:
  class Flow;
  std::unique_ptr<Flow> flow_;
};

}  // namespace km::simt
