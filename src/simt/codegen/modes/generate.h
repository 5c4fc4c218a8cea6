// The code generator's only way in.
#pragma once

#include <llvm/Target/TargetMachine.h>

#include "base/interruption.h"
#include "base/result.h"
#include "simt/engine.h"
#include "simt/plan/code/code_plan.h"

namespace km::simt {

/// Makes the object code of a planned kernel variant. KM_ERROR_COMPILER: there would be too much
/// code, or emit_object() says why not. Once `interruption` gives an error, that is the result.
Result<Object> generate(const CodePlan& plan, llvm::TargetMachine& machine,
                        const Interruption& interruption);

}  // namespace km::simt
