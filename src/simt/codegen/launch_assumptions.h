// The test of a variant's assumptions: code may assume that 32-bit index expressions do not wrap
// and that pointers are aligned. km_assumptions_hold(record) checks both for one launch, by
// interval arithmetic on parameters, grid and block.
#pragma once

#include "simt/codegen/builder.h"
#include "simt/plan/plan.h"

namespace km::simt {

/// Generates km_assumptions_hold(record) in the module if the plan has assumptions.
void emit_launch_assumptions(CodeBuilder& codegen, const Plan& plan);

}  // namespace km::simt
