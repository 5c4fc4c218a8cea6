#include "backends/vulkan/driver/result.h"

namespace km::vulkan {
namespace {

struct Row {
  VkResult result;
  const char* name;
  km_status status;
};

constexpr Row kRows[] = {
    {VK_ERROR_OUT_OF_HOST_MEMORY, "VK_ERROR_OUT_OF_HOST_MEMORY", KM_ERROR_OUT_OF_HOST_MEMORY},
    {VK_ERROR_OUT_OF_DEVICE_MEMORY, "VK_ERROR_OUT_OF_DEVICE_MEMORY", KM_ERROR_OUT_OF_DEVICE_MEMORY},
    {VK_ERROR_TOO_MANY_OBJECTS, "VK_ERROR_TOO_MANY_OBJECTS", KM_ERROR_OUT_OF_DEVICE_MEMORY},
    {VK_ERROR_MEMORY_MAP_FAILED, "VK_ERROR_MEMORY_MAP_FAILED", KM_ERROR_OUT_OF_DEVICE_MEMORY},
    {VK_ERROR_DEVICE_LOST, "VK_ERROR_DEVICE_LOST", KM_ERROR_LAUNCH_FAILED},
    {VK_ERROR_INITIALIZATION_FAILED, "VK_ERROR_INITIALIZATION_FAILED",
     KM_ERROR_BACKEND_UNAVAILABLE},
    {VK_ERROR_INCOMPATIBLE_DRIVER, "VK_ERROR_INCOMPATIBLE_DRIVER", KM_ERROR_BACKEND_UNAVAILABLE},
    {VK_ERROR_LAYER_NOT_PRESENT, "VK_ERROR_LAYER_NOT_PRESENT", KM_ERROR_BACKEND_UNAVAILABLE},
    {VK_ERROR_EXTENSION_NOT_PRESENT, "VK_ERROR_EXTENSION_NOT_PRESENT", KM_ERROR_NOT_SUPPORTED},
    {VK_ERROR_FEATURE_NOT_PRESENT, "VK_ERROR_FEATURE_NOT_PRESENT", KM_ERROR_NOT_SUPPORTED},
    {VK_ERROR_INVALID_EXTERNAL_HANDLE, "VK_ERROR_INVALID_EXTERNAL_HANDLE",
     KM_ERROR_INVALID_ARGUMENT},
    {VK_ERROR_UNKNOWN, "VK_ERROR_UNKNOWN", KM_ERROR_INTERNAL},
};

const Row* row_of(VkResult result) {
  for (const Row& row : kRows) {
    if (row.result == result) return &row;
  }
  return nullptr;
}

}  // namespace

std::string result_text(VkResult result) {
  const Row* row = row_of(result);
  return std::string(row != nullptr ? row->name : "an unexpected result") + " (" +
         std::to_string(result) + ")";
}

std::string version_text(uint32_t version) {
  return std::to_string(VK_API_VERSION_MAJOR(version)) + "." +
         std::to_string(VK_API_VERSION_MINOR(version)) + "." +
         std::to_string(VK_API_VERSION_PATCH(version));
}

Error vulkan_error(VkResult result, const char* function) {
  const Row* row = row_of(result);
  return {row != nullptr ? row->status : KM_ERROR_INTERNAL,
          std::string(function) + " gave " + result_text(result), result};
}

}  // namespace km::vulkan
