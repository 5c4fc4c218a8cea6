// Barriers that do not part regions, and fences.
#pragma once

#include "simt/codegen/values.h"

namespace km::simt {

/// Lowers fence, membar and, as calls, bar.
class Barriers : public Room {
 public:
  Barriers(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame, Values& values)
      : Room(builder, plan), frame_(frame), values_(values) {}

  /// Lowers fence and membar by the weakest fence of LLVM that has their effect.
  void lower_fence(const Inst& inst);
  /// Lowers a barrier at which the region goes on: to nothing for a block of one packet, else to a
  /// call that suspends the warp.
  void lower_barrier(const Inst& inst);

 private:
  LaunchFrame& frame_;
  Values& values_;
};

}  // namespace km::simt
