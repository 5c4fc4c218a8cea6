// The set of instructions that the engine can lower, checked before any code is generated.
#pragma once

#include "base/result.h"
#include "simt/kernel/kernel.h"

namespace km::simt {

/// KM_ERROR_UNSUPPORTED_PTX names the first unsupported instruction with its line.
Status check_supported(const ptx::Module& module, const ptx::Function& function);

}  // namespace km::simt
