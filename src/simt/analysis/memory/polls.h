// Which branches of a loop depend on memory that other threads may change: what the loop polls.
#pragma once

#include <memory>
#include <vector>

#include "simt/analysis/shape.h"
#include "simt/kernel.h"

namespace km::simt {

/// A load that is defined to see what other threads store while the kernel runs: atomic, volatile,
/// acquire, or past the first cache (ld.cv, ld.cg). Atomic operations and waits for barriers in
/// memory count as such loads.
bool is_strong_load(const ptx::Instruction& instruction);

/// The reads of each value of a kernel.
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

/// The polls of one loop. A value depends on a poll through registers, through memory that the
/// loop stores to, and through the branches that choose between values or guard a store.
///
/// Three kinds of loads are polls: strong ones; weak ones in a loop that also orders memory
/// (fences, barriers, releases and acquires), unless the branch compares them with a counter; and
/// weak ones from one place that alone decide a branch, since nothing but another thread's store
/// makes such a loop go round a number of times.
class LoopPolls {
 public:
  /// `graph` is the kernel's: a copy for each loop takes the square of the loops' number.
  LoopPolls(const Kernel& kernel, const Graph& graph, const Shapes& shapes, const ValueUses& uses,
            uint32_t loop);
  ~LoopPolls();

  /// A poll that the branch at the end of `block` depends on; null: none.
  const Inst* at(BlockId block) const;

 private:
  class Flow;
  std::unique_ptr<Flow> flow_;
};

}  // namespace km::simt
