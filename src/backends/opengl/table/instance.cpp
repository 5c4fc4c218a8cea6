// The functions of Vulkan's instance on OpenGL: what devices there are and what they can do.
#include <algorithm>
#include <cstring>

#include "backends/opengl/table/functions.h"

namespace km::opengl {
namespace {

const Renderer& renderer_of(VkPhysicalDevice device) {
  return *reinterpret_cast<Renderer*>(device);
}

/// The structure of a chain with this type; null if it is not asked for.
template <class Structure>
Structure* find_in(void* chain, VkStructureType type) {
  for (auto* each = static_cast<VkBaseOutStructure*>(chain); each != nullptr; each = each->pNext) {
    if (each->sType == type) return reinterpret_cast<Structure*>(each);
  }
  return nullptr;
}

}  // namespace

std::vector<Renderer>& renderers() {
  static auto& all = *new std::vector<Renderer>;  // devices last as long as the process
  return all;
}

VkResult enumerate_version(uint32_t* version) {
  *version = VK_API_VERSION_1_2;
  return VK_SUCCESS;
}

VkResult enumerate_layers(uint32_t* count, VkLayerProperties*) {
  *count = 0;
  return VK_SUCCESS;
}

VkResult enumerate_instance_extensions(const char*, uint32_t* count, VkExtensionProperties*) {
  *count = 0;
  return VK_SUCCESS;
}

VkResult create_instance(const VkInstanceCreateInfo*, const VkAllocationCallbacks*,
                         VkInstance* instance) {
  *instance = reinterpret_cast<VkInstance>(&renderers());
  return VK_SUCCESS;
}

VkResult enumerate_devices(VkInstance, uint32_t* count, VkPhysicalDevice* devices) {
  const auto all = static_cast<uint32_t>(renderers().size());
  if (devices != nullptr) {
    *count = std::min(*count, all);
    for (uint32_t i = 0; i < *count; ++i) {
      devices[i] = reinterpret_cast<VkPhysicalDevice>(&renderers()[i]);
    }
  } else {
    *count = all;
  }
  return VK_SUCCESS;
}

void get_properties(VkPhysicalDevice device, VkPhysicalDeviceProperties2* out) {
  const Renderer& renderer = renderer_of(device);
  VkPhysicalDeviceProperties& properties = out->properties;
  properties = {};
  properties.apiVersion = VK_API_VERSION_1_2;
  properties.deviceType =
      renderer.is_llvmpipe ? VK_PHYSICAL_DEVICE_TYPE_CPU : VK_PHYSICAL_DEVICE_TYPE_OTHER;
  std::strncpy(properties.deviceName, renderer.name.c_str(), sizeof properties.deviceName - 1);
  VkPhysicalDeviceLimits& limits = properties.limits;
  limits.maxComputeSharedMemorySize = renderer.shared_bytes;
  limits.maxComputeWorkGroupInvocations = renderer.most_threads;
  std::copy_n(renderer.most_blocks.begin(), 3, limits.maxComputeWorkGroupCount);
  std::copy_n(renderer.most_block.begin(), 3, limits.maxComputeWorkGroupSize);
  limits.timestampPeriod = 1;
  if (auto* v11 = find_in<VkPhysicalDeviceVulkan11Properties>(
          out->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES)) {
    v11->maxMemoryAllocationSize = renderer.arena_bytes;
  }
  auto* v12 = find_in<VkPhysicalDeviceVulkan12Properties>(
      out->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES);
  if (v12 != nullptr && renderer.is_llvmpipe) v12->driverID = VK_DRIVER_ID_MESA_LLVMPIPE;
}

void get_features(VkPhysicalDevice device, VkPhysicalDeviceFeatures2* out) {
  const Renderer& renderer = renderer_of(device);
  out->features = {};
  out->features.shaderInt64 = renderer.has_int64 ? VK_TRUE : VK_FALSE;
  out->features.shaderFloat64 = renderer.has_float64 ? VK_TRUE : VK_FALSE;
  if (auto* v12 = find_in<VkPhysicalDeviceVulkan12Features>(
          out->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES)) {
    v12->bufferDeviceAddress = v12->timelineSemaphore = VK_TRUE;
  }
}

void get_memory(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties2* out) {
  VkPhysicalDeviceMemoryProperties& memory = out->memoryProperties;
  memory = {};
  memory.memoryHeapCount = memory.memoryTypeCount = 1;
  memory.memoryHeaps[0] = {renderer_of(device).arena_bytes, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
  memory.memoryTypes[0] = {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT |
                               VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                               VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                           0};
}

void get_queue_families(VkPhysicalDevice, uint32_t* count, VkQueueFamilyProperties* families) {
  *count = 1;
  if (families == nullptr) return;
  families[0] = {.queueFlags = VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT,
                 .queueCount = 1,
                 .timestampValidBits = 64,
                 .minImageTransferGranularity = {1, 1, 1}};
}

VkResult enumerate_device_extensions(VkPhysicalDevice, const char*, uint32_t* count,
                                     VkExtensionProperties*) {
  *count = 0;
  return VK_SUCCESS;
}

VkResult create_device(VkPhysicalDevice device, const VkDeviceCreateInfo*,
                       const VkAllocationCallbacks*, VkDevice* out) {
  Result<std::unique_ptr<Device>> made = Device::make(renderer_of(device));
  if (!made) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  *out = reinterpret_cast<VkDevice>(made->release());
  return VK_SUCCESS;
}

}  // namespace km::opengl
