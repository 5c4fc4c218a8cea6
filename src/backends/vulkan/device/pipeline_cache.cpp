#include "backends/vulkan/device/pipeline_cache.h"

#include <string>

#include "base/file/disk_cache.h"
#include "base/log.h"

namespace km::vulkan {
namespace {

/// The key of an adapter's pipelines in the cache, which takes any bytes.
std::string pipeline_cache_key(const Adapter& adapter) {
  const VkPhysicalDeviceProperties& device = adapter.properties().head.properties;
  std::string key = "vulkan-pipelines " + std::to_string(device.vendorID) + " " +
                    std::to_string(device.deviceID) + " " + std::to_string(device.driverVersion);
  for (const uint8_t* const id : {device.pipelineCacheUUID, adapter.properties().v11.deviceUUID}) {
    key.append(reinterpret_cast<const char*>(id), VK_UUID_SIZE);
  }
  return key;
}

}  // namespace

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
