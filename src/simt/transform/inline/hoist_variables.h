// Moves variables that functions declare in .global and .const space to the module, since they live
// as long as it, and replaces addresses of functions in initial values by numbers.
#pragma once

#include <memory>

#include "ptx/ir.h"

namespace km::simt {

/// The module with such variables added at module scope and such addresses resolved; the same
/// module if it has neither.
std::shared_ptr<const ptx::Module> hoist_variables(std::shared_ptr<const ptx::Module> module);

}  // namespace km::simt
