// Barriers that are calls of the runtime rather than ends of regions, and fences.
#pragma once

#include "simt/codegen/lower/checks/access_reports.h"

namespace km::simt {

/// Lowers fence and membar to the weakest LLVM fence that has their effect.
void lower_fence(CodeBuilder& builder, const Inst& inst);
/// Lowers a barrier that does not end its region. In mode a the block has a single packet, so no
/// code is needed; in mode b a call suspends the warp.
void lower_barrier(CodeBuilder& builder, const Plan& plan, LaunchFrame& frame, Values& values,
                   AccessReports& reports, const Inst& inst);

}  // namespace km::simt
