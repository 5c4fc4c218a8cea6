// AccessCounts, the calls by which code for counters tells the runtime what warps do.
#pragma once

#include "simt/analysis/memory/memory_access.h"
#include "simt/codegen/addresses.h"
#include "simt/runtime/check/counter_runtime.h"

namespace km::simt {

/// Generates calls of CounterRuntime's functions. Every function does nothing if the variant is not
/// made for counters.
class AccessCounts : private EmitterBase {
 public:
  AccessCounts(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame, Addresses& addresses)
      : EmitterBase(builder, plan), frame_(frame), addresses_(addresses) {}

  /// True if the variant is made for counters.
  bool is_used() const { return (plan_.variant.tools & check_tool::kCounters) != 0; }
  /// Counts a load, store or atomic of the active lanes, if it is of global or shared memory.
  void count_access(const Inst& inst, const Address& address);
  /// Counts an access of `size_bytes` each by the lanes of a mask (null: all).
  void count_lanes(Value* addresses, const CountedAccess& access, Value* lanes);
  /// Counts an execution of a basic block by the active lanes. `condition` (of each lane; null: it
  /// is the same for all) decides which way a lane takes from there.
  void count_block(const BasicBlock& block, Value* condition);

 private:
  uint32_t instructions_of(const BasicBlock& block) const;
  Value* lanes_of_first_way(Value* condition);
  void call(uint64_t entry, std::initializer_list<Value*> arguments);

  LaunchFrame& frame_;
  Addresses& addresses_;
};

/// How the instruction, a load, store or atomic, accesses memory.
AccessKind access_kind_of(const Inst& inst);

}  // namespace km::simt
