// Barriers that are calls of the runtime rather than ends of regions, and fences.
#pragma once

#include "simt/codegen/values.h"

namespace km::simt {

/// Lowers fence and membar, and bar within a region.
class Barriers : public Room {
 public:
  Barriers(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame, Values& values)
      : Room(builder, plan), frame_(frame), values_(values) {}

  /// Lowers fence and membar to the weakest LLVM fence that has their effect.
  void lower_fence(const Inst& inst);
  /// Lowers a barrier that does not end its region. In mode a the block has a single packet, so no
  /// code is needed; in mode b a call suspends the warp.
  void lower_barrier(const Inst& inst);

 private:
  LaunchFrame& frame_;
  Values& values_;
};

}  // namespace km::simt
