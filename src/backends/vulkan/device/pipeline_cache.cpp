#include "backends/vulkan/device/pipeline_cache.h"

#include "base/file/disk_cache.h"
#include "base/log.h"

namespace km::vulkan {

std::string pipeline_cache_key(const Adapter& adapter) {
  const VkPhysicalDeviceProperties& device = adapter.properties().head.properties;
  std::string key = "vulkan-pipelines " + std::to_string(device.vendorID) + " " +
                    std::to_string(device.deviceID) + " " + std::to_string(device.driverVersion);
  const auto append = [&](const uint8_t(&bytes)[VK_UUID_SIZE]) {
    constexpr char kDigits[] = "0123456789abcdef";
    key += ' ';
    for (const uint8_t byte : bytes) {
      key += kDigits[byte >> 4];
      key += kDigits[byte & 15];
    }
  };
  append(device.pipelineCacheUUID);
  append(adapter.properties().v11.deviceUUID);
  return key;
}

std::vector<uint8_t> kept_pipelines(const Adapter& adapter) {
  const DiskCache* const cache = DiskCache::instance();
  if (cache == nullptr) return {};
  return cache->find(pipeline_cache_key(adapter)).value_or(std::vector<uint8_t>{});
}

void keep_pipelines(const Adapter& adapter, const DeviceFunctions& vk, VkDevice device,
                    VkPipelineCache pipelines, uint64_t kept_bytes) {
  DiskCache* const cache = DiskCache::instance();
  size_t size_bytes = 0;
  if (cache == nullptr ||
      vk.vkGetPipelineCacheData(device, pipelines, &size_bytes, nullptr) != VK_SUCCESS ||
      size_bytes <= kept_bytes) {
    return;
  }
  std::vector<uint8_t> content(size_bytes);
  if (vk.vkGetPipelineCacheData(device, pipelines, &size_bytes, content.data()) != VK_SUCCESS) {
    return;
  }
  content.resize(size_bytes);
  cache->keep(pipeline_cache_key(adapter), content);
  log(LogLevel::kDebug, "vulkan", "%s: %zu bytes of pipelines are kept",
      device_uri(adapter).c_str(), content.size());
}

}  // namespace km::vulkan
