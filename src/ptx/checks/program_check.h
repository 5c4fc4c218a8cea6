// Checks of a module that is to run as it is, not to be linked with others: what names must be
// defined, and what fits into the memories of a device.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "ptx/ir.h"

namespace km::ptx {

/// Static shared memory of a kernel, and constants of a module, in bytes: the limits of all
/// devices.
constexpr uint64_t kMostStaticSharedBytes = 48 * 1024;
constexpr uint64_t kMostConstantBytes = 64 * 1024;

/// The function that the device runtime calls the engine by (simt/runtime/device_call.h).
inline constexpr std::string_view kDeviceCallName = "km_device_call";
/// True if the function is one that every device offers to kernels: vprintf, malloc ...
bool is_runtime_function(std::string_view name);

/// KM_ERROR_INVALID_PTX names a function that is used and has no body, a kernel with too much
/// static shared memory, or too many constants.
Status check_program(const Module& module);

}  // namespace km::ptx
