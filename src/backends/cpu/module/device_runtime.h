// PTX for CUDA's device runtime (libcudadevrt), whose machine code does not run on a CPU: wrappers
// convert each function's parameters to the words of a km_device_call.
#pragma once

#include <string>
#include <string_view>

#include "ptx/ir.h"

namespace km::cpu {

/// Definitions of the device runtime's functions that the module declares but does not define, to
/// append to its text; empty if there are none.
std::string device_runtime_for(const ptx::Module& module);

/// True if device_runtime_for() has a definition of this function.
bool is_device_runtime(std::string_view function);

/// True if kernels launch kernels, copies or fills by this function of the device runtime.
bool launches_grids(std::string_view function);

}  // namespace km::cpu
