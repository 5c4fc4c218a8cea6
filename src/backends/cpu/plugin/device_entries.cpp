// Vtable entries for devices.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "backends/cpu/config/config.h"
#include "backends/cpu/config/topology.h"
#include "backends/cpu/device/device.h"
#include "backends/cpu/device/device_attributes.h"
#include "backends/cpu/device/entries.h"
#include "backends/cpu/runtime/images.h"
#include "base/fixed_text.h"
#include "base/process/processors.h"
#include "base/text.h"

namespace km::cpu {
namespace {

/// Distributes the cores among the devices, which are never destroyed.
std::vector<Device*> make_devices() {
  std::vector<Device*> made;
  std::vector<int> cpus = allowed_cpus();
  const Config& settings = config();
  uint32_t first = 0;
  for (uint32_t i = 0; i < settings.devices; ++i) {
    ThreadPoolOptions options;
    options.threads =
        settings.threads / settings.devices + (i < settings.threads % settings.devices);
    options.first_name = first;
    options.in_order = settings.deterministic;
    options.may_spin = cpus.size() > 1;
    for (uint32_t k = 0; settings.pin && k < options.threads; ++k) {
      options.cpus.push_back(cpus[(first + k) % cpus.size()]);
    }
    first += options.threads;
    made.push_back(new Device(i, std::move(options)));
  }
  return made;
}

const std::vector<Device*>& devices() {
  static const auto* const all = new std::vector<Device*>(make_devices());
  return *all;
}

std::optional<int64_t> attribute_value(const Device& device, km_device_attribute attribute) {
  switch (attribute) {
    case KM_DEVICE_ATTRIBUTE_UNIFIED_MEMORY:
      return 1;
    case KM_DEVICE_ATTRIBUTE_STREAM_PRIORITY_LEAST:
      return 0;
    case KM_DEVICE_ATTRIBUTE_STREAM_PRIORITY_GREATEST:
      return -1;
    case KMB_DEVICE_ATTRIBUTE_IMAGES:
      return reinterpret_cast<int64_t>(&image_entries());
    default:
      return cuda_attribute(device, attribute - KM_DEVICE_ATTRIBUTE_CUDA);
  }
}

void fill_info(const Device& device, km_device_info* info) {
  info->ordinal = device.ordinal();
  copy_text(info->uri, "cpu:" + std::to_string(device.ordinal()));
  copy_text(info->backend, "cpu");
  copy_text(info->name, cpu_name());
  info->total_memory_bytes = device.memory_bytes();
  info->compute_capability_major = config().capability_major;
  info->compute_capability_minor = config().capability_minor;
  info->multiprocessor_count = device.threads();
  info->warp_size = simt::kWarpLanes;
  info->max_threads_per_block = kMaxThreadsPerBlock;
  std::copy(std::begin(kMaxBlockDim), std::end(kMaxBlockDim), info->max_block_dim);
  std::copy(std::begin(kMaxGridDim), std::end(kMaxGridDim), info->max_grid_dim);
  info->shared_bytes_per_block = kSharedBytesWithoutOptIn;
  info->shared_bytes_per_block_max = config().limits.block_shared_bytes;
  info->clock_rate_khz = clock_khz();
  info->memory_clock_rate_khz = 0;
  info->memory_bus_width_bits = 0;
  info->threads = device.threads();
  copy_text(info->isa, std::string(config().machine.name()));
}

}  // namespace

km_status device_count(uint32_t* out_count, kmb_error*) {
  *out_count = config().devices;
  return KM_SUCCESS;
}

km_status device_open(uint32_t ordinal, kmb_device** out_device, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    if (ordinal >= devices().size()) {
      return make_error(KM_ERROR_NO_DEVICE,
                        "there is no device cpu:%u: this process has %s (KM_CPU_DEVICES)", ordinal,
                        counted(devices().size(), "CPU device").c_str());
    }
    *out_device = to(devices()[ordinal]);
    return {};
  });
}

void device_close(kmb_device*) {}  // devices are never closed, since idle threads cost nothing

km_status device_can_access_peer(kmb_device* device, kmb_device* peer, uint32_t* out_can_access,
                                 kmb_error*) {
  *out_can_access = device != peer ? 1 : 0;  // all devices share the machine's memory
  return KM_SUCCESS;
}

km_status device_info(kmb_device* device, km_device_info* out_info, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    fill_info(*from(device), out_info);
    return {};
  });
}

km_status device_attribute(kmb_device* device, km_device_attribute attribute, int64_t* out_value,
                           kmb_error* error) {
  return guarded(error, [&]() -> Status {
    std::optional<int64_t> value = attribute_value(*from(device), attribute);
    if (!value) {
      return make_error(KM_ERROR_INVALID_ARGUMENT, "there is no device attribute %d", attribute);
    }
    *out_value = *value;
    return {};
  });
}

}  // namespace km::cpu
