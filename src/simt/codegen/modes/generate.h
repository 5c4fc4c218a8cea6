// The entry point of the code generator.
#pragma once

#include <llvm/Target/TargetMachine.h>

#include "base/interruption.h"
#include "base/result.h"
#include "simt/engine.h"
#include "simt/plan/code/code_plan.h"

namespace km::simt {

/// Generates the object code of a planned kernel variant. Fails with KM_ERROR_COMPILER if there is
/// too much code or emit_object() fails, and with the error of `interruption` once it has one.
Result<Object> generate(const CodePlan& plan, llvm::TargetMachine& machine,
                        const Interruption& interruption);

}  // namespace km::simt
