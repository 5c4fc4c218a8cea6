// Checks of a module that is executed as it is instead of linked: all names must be defined, and
// its variables must fit the memories of a device.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "ptx/ir.h"

namespace km::ptx {

/// The limits of a kernel's static shared memory and of a module's constants in bytes, the same on
/// all devices.
constexpr uint64_t kMostStaticSharedBytes = 48 * 1024;
constexpr uint64_t kMostConstantBytes = 64 * 1024;

/// The name of the function by which the device runtime calls the engine
/// (simt/runtime/device_call.h).
inline constexpr std::string_view kDeviceCallName = "km_device_call";
/// True if the function is provided by every device: vprintf, malloc ...
bool is_runtime_function(std::string_view name);

/// KM_ERROR_INVALID_PTX names an undefined function that is used, a kernel with too much static
/// shared memory, or too many constants.
Status check_program(const Module& module);

}  // namespace km::ptx
