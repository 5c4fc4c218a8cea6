// The choice of mode, lanes and regions for one variant of a kernel.
#pragma once

#include <optional>
#include <string>

#include "simt/plan/plan.h"
#include "simt/program/program.h"

namespace km::simt {

/// A plan with the objects that it points to, which must not move.
struct PlannedKernel {
  // The kernel with the variant's stack size, or with the checker's marks, if it needs them.
  std::optional<AnalysedKernel> rebuilt;
  Kernel independent_kernel;  // mode c
  Kernel pruned;
  Shapes shapes;
  Classification classification;
  Classification found;  // the classification at the start of the choice
  Plan plan;
};

/// Analyses the kernel for the variant and decides how its code runs. It fails only if the kernel
/// cannot be built for mode c, which runs all others, or with the variant's stack.
Status choose_plan(const ProgramImpl& program, uint32_t kernel, const Variant& variant,
                   PlannedKernel& out);

/// The last part of KM_DUMP=masks: mode, lanes, regions, and the reason.
std::string dump(const PlannedKernel& planned, const KernelInfo& info);

}  // namespace km::simt
