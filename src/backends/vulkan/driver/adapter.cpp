#include "backends/vulkan/driver/adapter.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "backends/vulkan/driver/driver_interface.h"
#include "backends/vulkan/driver/result.h"

namespace km::vulkan {
namespace {

constexpr VkQueueFlags kNeededQueue = VK_QUEUE_COMPUTE_BIT;

/// A feature without which nothing runs, and its name in messages.
struct NeededFeature {
  VkBool32 is_there;
  const char* name;
};

}  // namespace

FeatureChain::FeatureChain() {
  head.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  v13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
  head.pNext = &v11;
  v11.pNext = &v12;
}

PropertyChain::PropertyChain() {
  head.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES;
  v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES;
  v13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES;
  host_memory.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT;
}

Adapter::Adapter(VkPhysicalDevice handle, uint32_t ordinal) : handle_(handle), ordinal_(ordinal) {
  const InstanceFunctions& vk = instance_functions();
  // The version decides which structures the chains may have.
  vk.vkGetPhysicalDeviceProperties2(handle_, &properties_.head);
  read_extensions();
  if (version() >= VK_API_VERSION_1_2) {
    properties_.head.pNext = &properties_.v11;
    properties_.v11.pNext = &properties_.v12;
    void** end = &properties_.v12.pNext;
    if (has_version_13()) {
      *end = &properties_.v13;
      end = &properties_.v13.pNext;
      features_.v12.pNext = &features_.v13;
    }
    const bool imports = has_extension(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
    if (imports) *end = &properties_.host_memory;
    vk.vkGetPhysicalDeviceProperties2(handle_, &properties_.head);
    if (imports) host_memory_alignment_ = properties_.host_memory.minImportedHostPointerAlignment;
    vk.vkGetPhysicalDeviceFeatures2(handle_, &features_.head);
  }
  VkPhysicalDeviceMemoryProperties2 memory{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, nullptr, {}};
  vk.vkGetPhysicalDeviceMemoryProperties2(handle_, &memory);
  memory_ = memory.memoryProperties;
  choose_queue_family();
  if (driver_interface().refusal_of != nullptr) refusal_ = driver_interface().refusal_of(handle_);
  if (refusal_.empty()) refusal_ = find_refusal();
}

void Adapter::read_extensions() {
  const InstanceFunctions& vk = instance_functions();
  uint32_t count = 0;
  vk.vkEnumerateDeviceExtensionProperties(handle_, nullptr, &count, nullptr);
  extensions_.resize(count);
  vk.vkEnumerateDeviceExtensionProperties(handle_, nullptr, &count, extensions_.data());
  extensions_.resize(count);
}

bool Adapter::has_extension(const char* name) const {
  return std::any_of(extensions_.begin(), extensions_.end(), [name](const auto& extension) {
    return std::strcmp(extension.extensionName, name) == 0;
  });
}

void Adapter::choose_queue_family() {
  const InstanceFunctions& vk = instance_functions();
  uint32_t count = 0;
  vk.vkGetPhysicalDeviceQueueFamilyProperties(handle_, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vk.vkGetPhysicalDeviceQueueFamilyProperties(handle_, &count, families.data());
  // A family without graphics leaves the desktop its own queue.
  for (const bool with_graphics : {false, true}) {
    for (uint32_t i = 0; i < count && queue_family_ == UINT32_MAX; ++i) {
      const VkQueueFlags flags = families[i].queueFlags;
      const bool has_graphics = (flags & VK_QUEUE_GRAPHICS_BIT) != 0;
      if ((flags & kNeededQueue) == 0 || has_graphics != with_graphics) continue;
      queue_family_ = i;
      timestamp_bits_ = families[i].timestampValidBits;
    }
  }
}

std::string Adapter::find_refusal() const {
  if (version() < VK_API_VERSION_1_2) {
    return "its driver has Vulkan " + version_text(version()) + "; 1.2 is needed";
  }
  if (queue_family_ == UINT32_MAX) return "it has no queue for compute shaders";
  const NeededFeature needed[] = {
      {features_.v12.bufferDeviceAddress, "bufferDeviceAddress (addresses of memory in kernels)"},
      {features_.v12.timelineSemaphore, "timelineSemaphore (order of streams)"},
      {features_.head.features.shaderInt64, "shaderInt64 (64-bit integers in kernels)"}};
  std::string missing;
  for (const NeededFeature& feature : needed) {
    if (feature.is_there == VK_TRUE) continue;
    missing += (missing.empty() ? "" : ", ") + std::string(feature.name);
  }
  return missing.empty() ? missing : "its driver lacks " + missing;
}

bool Adapter::shares_host_memory() const {
  const VkPhysicalDeviceType type = properties_.head.properties.deviceType;
  return type == VK_PHYSICAL_DEVICE_TYPE_CPU || type == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
}

uint64_t Adapter::memory_bytes() const {
  uint64_t most = 0, most_local = 0;
  for (uint32_t i = 0; i < memory_.memoryHeapCount; ++i) {
    const VkMemoryHeap& heap = memory_.memoryHeaps[i];
    most = std::max<uint64_t>(most, heap.size);
    if ((heap.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0) {
      most_local = std::max<uint64_t>(most_local, heap.size);
    }
  }
  return most_local != 0 ? most_local : most;
}

uint64_t Adapter::largest_allocation_bytes() const {
  return std::min<uint64_t>(properties_.v11.maxMemoryAllocationSize, memory_bytes());
}

bool Adapter::take_bytes(uint64_t size_bytes) const {
  if (taken_bytes_.fetch_add(size_bytes) + size_bytes <= memory_bytes()) return true;
  taken_bytes_ -= size_bytes;
  return false;
}

std::string device_uri(const Adapter& adapter) {
  return std::string(driver_interface().name) + ":" + std::to_string(adapter.ordinal());
}

Result<std::span<const std::unique_ptr<const Adapter>>> adapters() {
  using All = std::vector<std::unique_ptr<const Adapter>>;
  static std::mutex mutex;
  static All* found = nullptr;  // never destroyed: devices last as long as the process
  const std::lock_guard lock(mutex);
  if (found == nullptr) {
    KM_ASSIGN(const std::vector<VkPhysicalDevice> handles, physical_devices());
    auto made = std::make_unique<All>();
    for (const VkPhysicalDevice handle : handles) {
      made->push_back(std::make_unique<const Adapter>(handle, static_cast<uint32_t>(made->size())));
    }
    found = made.release();
  }
  return std::span<const std::unique_ptr<const Adapter>>(*found);
}

}  // namespace km::vulkan
