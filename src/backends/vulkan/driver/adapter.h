// The physical devices, with everything that is known of them before one is opened.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/vulkan/driver/loader.h"

namespace km::vulkan {

/// The chains of structures by which Vulkan tells and takes a device's features. Its members point
/// at each other, so it is neither copied nor moved.
struct FeatureChain {
  FeatureChain();
  FeatureChain(const FeatureChain&) = delete;
  FeatureChain& operator=(const FeatureChain&) = delete;

  VkPhysicalDeviceFeatures2 head{};
  VkPhysicalDeviceVulkan11Features v11{};
  VkPhysicalDeviceVulkan12Features v12{};
  VkPhysicalDeviceVulkan13Features v13{};  // in the chain if the device has Vulkan 1.3
};

/// The properties of a device, in a chain like FeatureChain.
struct PropertyChain {
  PropertyChain();
  PropertyChain(const PropertyChain&) = delete;
  PropertyChain& operator=(const PropertyChain&) = delete;

  VkPhysicalDeviceProperties2 head{};
  VkPhysicalDeviceVulkan11Properties v11{};
  VkPhysicalDeviceVulkan12Properties v12{};
  VkPhysicalDeviceVulkan13Properties v13{};
  VkPhysicalDeviceExternalMemoryHostPropertiesEXT host_memory{};
};

/// One physical device. It lasts as long as the process, and is immutable but for the count of
/// its memory.
class Adapter {
 public:
  Adapter(VkPhysicalDevice handle, uint32_t ordinal);

  VkPhysicalDevice handle() const { return handle_; }
  uint32_t ordinal() const { return ordinal_; }
  /// Why no context can be made on the device; empty: one can.
  const std::string& refusal() const { return refusal_; }

  const char* name() const { return properties_.head.properties.deviceName; }
  uint32_t version() const { return properties_.head.properties.apiVersion; }
  bool has_version_13() const { return version() >= VK_API_VERSION_1_3; }
  const VkPhysicalDeviceLimits& limits() const { return properties_.head.properties.limits; }
  const PropertyChain& properties() const { return properties_; }
  const FeatureChain& features() const { return features_; }
  const VkPhysicalDeviceMemoryProperties& memory() const { return memory_; }
  bool has_extension(const char* name) const;
  /// True if host memory at multiples of host_memory_alignment() can become device memory.
  bool can_import_host_memory() const { return host_memory_alignment() != 0; }
  uint64_t host_memory_alignment() const { return host_memory_alignment_; }
  /// The device's processor is the host's, or shares its memory, so that all memory is mapped.
  bool shares_host_memory() const;
  /// The queue family that runs everything: compute, copies, timestamps.
  uint32_t queue_family() const { return queue_family_; }
  uint32_t timestamp_bits() const { return timestamp_bits_; }
  /// Bytes of the largest heap that only the device has, or of the largest one.
  uint64_t memory_bytes() const;
  /// The size of the largest allocation.
  uint64_t largest_allocation_bytes() const;
  uint32_t max_threads_per_block() const { return limits().maxComputeWorkGroupInvocations; }

  /// Counts memory of the process on the device; false if there is not that much.
  bool take_bytes(uint64_t size_bytes) const;
  void give_bytes_back(uint64_t size_bytes) const { taken_bytes_ -= size_bytes; }
  uint64_t taken_bytes() const { return taken_bytes_; }

 private:
  void read_extensions();
  void choose_queue_family();
  std::string find_refusal() const;

  const VkPhysicalDevice handle_;
  const uint32_t ordinal_;
  PropertyChain properties_;
  FeatureChain features_;
  VkPhysicalDeviceMemoryProperties memory_{};
  std::vector<VkExtensionProperties> extensions_;
  uint32_t queue_family_ = UINT32_MAX, timestamp_bits_ = 0;
  uint64_t host_memory_alignment_ = 0;
  std::string refusal_;
  mutable std::atomic<uint64_t> taken_bytes_{0};
};

/// The device's name in messages: "vulkan:0".
std::string device_uri(const Adapter& adapter);

/// All devices of the machine, usable or not; the registry has loaded the backend.
Result<std::span<const std::unique_ptr<const Adapter>>> adapters();

}  // namespace km::vulkan
