// The interface by which a plugin's devices are reached: Vulkan, or another one that stands in for
// it with the functions of functions.def.
#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include <string>

#include "base/result.h"

namespace km::vulkan {

/// A DriverInterface names an interface and opens it.
struct DriverInterface {
  const char* name;   // in the URIs of devices: "vulkan"
  const char* title;  // in messages: "Vulkan"
  /// Device memory is one buffer (spirv::DeviceFacts::has_arena).
  bool has_arena;
  /// Opens the library, once for the process; the error says what is wrong and what to do.
  Result<PFN_vkGetInstanceProcAddr> (*open)();
  /// The reason why a device cannot be used, beside those that Vulkan's features tell; may be null.
  std::string (*refusal_of)(VkPhysicalDevice device);
};

/// The interface of this plugin, which is set before anything else is called.
const DriverInterface& driver_interface();
void use_driver_interface(const DriverInterface& chosen);

/// libvulkan.so.1.
extern const DriverInterface kVulkanInterface;

}  // namespace km::vulkan
