// The PTX of CUDA's device runtime (libcudadevrt), whose machine code runs nowhere here: wrappers
// that turn each function's parameters into the words of a km_device_call.
#pragma once

#include <string>
#include <string_view>

#include "ptx/ir.h"

namespace km::cpu {

/// Definitions of the functions of the device runtime that the module declares and does not define,
/// to be added to its text; empty: there are none.
std::string device_runtime_for(const ptx::Module& module);

/// True if it is the name of a function of the device runtime by which kernels launch kernels,
/// copies or fills.
bool launches_grids(std::string_view function);

}  // namespace km::cpu
