// The set of instructions that this engine can lower, asked before any code is made.
#pragma once

#include "base/result.h"
#include "simt/kernel.h"

namespace km::simt {

/// KM_ERROR_UNSUPPORTED_PTX names the first instruction that cannot run here, with its line.
Status check_supported(const ptx::Module& module, const ptx::Function& function);

}  // namespace km::simt
