// Generator, the parts of the code generator that all execution modes share.
#pragma once

#include "simt/codegen/code_limit.h"
#include "simt/codegen/lower/lowering.h"

namespace km::simt {

/// Owns the shared parts for one kernel variant. They are constructed in the order of the members,
/// and each refers only to earlier ones.
struct Generator {
  Generator(CodeBuilder& code_builder, const CodePlan& code_plan, const Interruption& interruption)
      : builder(code_builder),
        plan(code_plan),
        frame(builder, plan),
        registers(builder, plan, frame),
        values(builder, plan, frame, registers),
        warp_frame(builder),
        lowering(builder, plan, frame, registers, values, warp_frame),
        limit(builder, *plan.base.kernel, interruption) {}
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  CodeBuilder& builder;
  const CodePlan& plan;
  LaunchFrame frame;
  SpecialRegisters registers;
  Values values;
  IndependentWarpFrame warp_frame;
  Lowering lowering;
  CodeLimit limit;
};

}  // namespace km::simt
