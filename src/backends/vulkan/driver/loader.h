// The Vulkan loader, libvulkan.so.1: opened at run time, with one VkInstance for the process.
#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace km::vulkan {

/// The functions of the instance, of which libvulkan has one for the process.
struct InstanceFunctions {
#define KM_VK_GLOBAL(name) PFN_##name name = nullptr;
#define KM_VK_INSTANCE(name) PFN_##name name = nullptr;
#define KM_VK_DEVICE(name)
#define KM_VK_OPTIONAL(name)
#include "backends/vulkan/driver/functions.def"
#undef KM_VK_GLOBAL
#undef KM_VK_INSTANCE
#undef KM_VK_DEVICE
#undef KM_VK_OPTIONAL
};

/// The functions of one VkDevice, without the loader's detour over its handle.
struct DeviceFunctions {
#define KM_VK_GLOBAL(name)
#define KM_VK_INSTANCE(name)
#define KM_VK_DEVICE(name) PFN_##name name = nullptr;
#define KM_VK_OPTIONAL(name) PFN_##name name = nullptr;
#include "backends/vulkan/driver/functions.def"
#undef KM_VK_GLOBAL
#undef KM_VK_INSTANCE
#undef KM_VK_DEVICE
#undef KM_VK_OPTIONAL
};

/// The functions of the instance; load_instance() has succeeded.
const InstanceFunctions& instance_functions();

/// Opens the loader and creates the instance, once for the process; the error says what is wrong
/// and what to do.
Status load_instance();

/// The physical devices in the loader's order. They are the same ones for the whole process.
Result<std::vector<VkPhysicalDevice>> physical_devices();

/// Functions that do nothing, and fail with VK_ERROR_DEVICE_LOST where they give a result: for
/// calls that come after the driver's end, such as those of a program's static objects.
const DeviceFunctions& ended_functions();

/// Looks up the functions of a new device; the error names one that is missing.
Result<DeviceFunctions> device_functions(VkDevice device);

}  // namespace km::vulkan
