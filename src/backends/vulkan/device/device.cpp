#include "backends/vulkan/device/device.h"

#include <memory>
#include <optional>

#include "backends/vulkan/device/device_attributes.h"
#include "backends/vulkan/driver/driver_interface.h"
#include "backends/vulkan/driver/entries.h"
#include "backends/vulkan/driver/result.h"
#include "base/fixed_text.h"

namespace km::vulkan {
namespace {

std::optional<int64_t> attribute_value(const Adapter& adapter, km_device_attribute attribute) {
  switch (attribute) {
    case KM_DEVICE_ATTRIBUTE_UNIFIED_MEMORY:
      return adapter.shares_host_memory() ? 1 : 0;
    case KM_DEVICE_ATTRIBUTE_STREAM_PRIORITY_LEAST:
    case KM_DEVICE_ATTRIBUTE_STREAM_PRIORITY_GREATEST:
      return 0;
    default:
      return cuda_attribute(adapter, attribute - KM_DEVICE_ATTRIBUTE_CUDA);
  }
}

void fill_info(const Adapter& adapter, km_device_info* info) {
  const VkPhysicalDeviceLimits& limits = adapter.limits();
  copy_text(info->name, adapter.name());
  info->total_memory_bytes = adapter.memory_bytes();
  info->compute_capability_major = kCapabilityMajor;
  info->compute_capability_minor = kCapabilityMinor;
  info->multiprocessor_count = 1;
  info->warp_size = kWarpSize;
  info->max_threads_per_block = adapter.max_threads_per_block();
  for (uint32_t i = 0; i < 3; ++i) {
    info->max_block_dim[i] = max_block_dim(adapter, i);
    info->max_grid_dim[i] = kMaxGridDim[i];
  }
  info->shared_bytes_per_block = limits.maxComputeSharedMemorySize;
  info->shared_bytes_per_block_max = limits.maxComputeSharedMemorySize;
  const DriverInterface& interface = driver_interface();
  copy_text(info->isa, interface.has_arena ? std::string("text of ") + interface.title
                                           : "spirv of Vulkan " + version_text(adapter.version()));
}

}  // namespace

km_status device_count(uint32_t* out_count, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_ASSIGN(const auto all, adapters());
    *out_count = static_cast<uint32_t>(all.size());
    return {};
  });
}

km_status device_open(uint32_t ordinal, kmb_device** out_device, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_ASSIGN(const auto all, adapters());
    if (ordinal >= all.size()) {
      return make_error(KM_ERROR_NO_DEVICE, "there is no device %s:%u: %s finds %zu",
                        driver_interface().name, ordinal, driver_interface().title, all.size());
    }
    const Adapter& adapter = *all[ordinal];
    if (!adapter.refusal().empty()) {
      return make_error(KM_ERROR_NO_DEVICE, "%s (%s) cannot be used: %s; a newer driver may help",
                        device_uri(adapter).c_str(), adapter.name(), adapter.refusal().c_str());
    }
    *out_device = to(std::make_unique<Device>(adapter).release());
    return {};
  });
}

void device_close(kmb_device* device) { const std::unique_ptr<Device> last(from(device)); }

km_status device_info(kmb_device* device, km_device_info* out_info, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    fill_info(from(device)->adapter(), out_info);
    return {};
  });
}

km_status device_attribute(kmb_device* device, km_device_attribute attribute, int64_t* out_value,
                           kmb_error* error) {
  return guarded(error, [&]() -> Status {
    const std::optional<int64_t> value = attribute_value(from(device)->adapter(), attribute);
    if (!value) {
      return make_error(KM_ERROR_INVALID_ARGUMENT, "there is no device attribute %d", attribute);
    }
    *out_value = *value;
    return {};
  });
}

km_status device_can_access_peer(kmb_device*, kmb_device*, uint32_t* out_can_access, kmb_error*) {
  *out_can_access = 0;
  return KM_SUCCESS;
}

}  // namespace km::vulkan
