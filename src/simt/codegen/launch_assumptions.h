// km_assumptions_hold(record): do the 32-bit index expressions that this code takes not to wrap
// stay in range for this launch? Interval arithmetic on parameters, grid and block. And are the
// pointers that it takes to be aligned?
#pragma once

#include "simt/codegen/builder.h"
#include "simt/plan/plan.h"

namespace km::simt {

/// Makes km_assumptions_hold(record) in the module, if the plan assumes anything of launches.
void emit_launch_assumptions(CodeBuilder& codegen, const Plan& plan);

}  // namespace km::simt
