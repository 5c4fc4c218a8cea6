// Barriers that are calls of the runtime rather than ends of regions, and fences.
#pragma once

#include "simt/codegen/values.h"

namespace km::simt {

/// Lowers fence and membar by the weakest fence of LLVM that has their effect.
void lower_fence(CodeBuilder& builder, const Inst& inst);
/// Lowers a barrier at which the region goes on: to nothing for a block of one packet, else to a
/// call that suspends the warp.
void lower_barrier(CodeBuilder& builder, const Plan& plan, LaunchFrame& frame, Values& values,
                   const Inst& inst);

}  // namespace km::simt
