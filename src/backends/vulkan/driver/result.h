// Converts the results of Vulkan's functions.
#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include <string>

#include "base/result.h"

namespace km::vulkan {

/// The result in messages: "VK_ERROR_DEVICE_LOST (-4)".
std::string result_text(VkResult result);

/// The version in messages: "1.3.230".
std::string version_text(uint32_t version);

/// The error of a function that gave `result`, which is the native code.
Error vulkan_error(VkResult result, const char* function);

/// An error unless the function succeeded.
inline Status check(VkResult result, const char* function) {
  if (result == VK_SUCCESS) [[likely]]
    return {};
  return vulkan_error(result, function);
}

}  // namespace km::vulkan
