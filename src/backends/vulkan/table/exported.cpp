// The one exported entry point of the plugin for Vulkan.
#include "backends/vulkan/table/table.h"

extern "C" __attribute__((visibility("default"))) const kmb_backend* km_backend_plugin() {
  return km::vulkan::table_for(km::vulkan::kVulkanInterface);
}
