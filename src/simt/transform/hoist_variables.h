// Variables that functions declare in .global and .const space live as long as the module;
// addresses of functions in initial values are numbers.
#pragma once

#include <memory>

#include "ptx/ir.h"

namespace km::simt {

/// The module with such variables at module scope, after its own, and such numbers among the data;
/// the module itself if it has neither.
std::shared_ptr<const ptx::Module> hoist_variables(std::shared_ptr<const ptx::Module> module);

}  // namespace km::simt
