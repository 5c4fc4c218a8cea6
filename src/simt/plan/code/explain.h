// KM_DUMP=lines: what becomes of each source line of a kernel variant. `kernelmill explain` reads
// it.
#pragma once

#include <string>

#include "simt/plan/code/code_plan.h"

namespace km::simt {

/// Lines of fields that are separated by tabs. The first has `plan`, the mode's letter, the number
/// of lanes and why the mode is not a. Each other one has a kind, the source file (empty: the PTX
/// text), the line, the estimated cost of a packet's instruction times 8 for each loop around it,
/// and a sentence.
std::string explain(const CodePlan& plan, const KernelInfo& info);

}  // namespace km::simt
