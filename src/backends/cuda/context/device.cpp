#include "backends/cuda/context/device.h"

#include <cstdio>
#include <memory>

#include "backends/cuda/driver/entries.h"
#include "backends/cuda/driver/status.h"

namespace km::cuda {
namespace {

Status fill_dimensions(const Gpu& gpu, km_device_info* info) {
  constexpr cu::CUdevice_attribute kBlock[] = {cu::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
                                               cu::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
                                               cu::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z};
  constexpr cu::CUdevice_attribute kGrid[] = {cu::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
                                              cu::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
                                              cu::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z};
  for (int i = 0; i < 3; ++i) {
    KM_ASSIGN(const int block, gpu.attribute(kBlock[i]));
    KM_ASSIGN(const int grid, gpu.attribute(kGrid[i]));
    info->max_block_dim[i] = static_cast<uint32_t>(block);
    info->max_grid_dim[i] = static_cast<uint32_t>(grid);
  }
  return {};
}

Status fill_numbers(const Gpu& gpu, km_device_info* info) {
  struct Row {
    cu::CUdevice_attribute attribute;
    uint32_t km_device_info::* member;
  };
  constexpr Row kRows[] = {
      {cu::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &km_device_info::compute_capability_major},
      {cu::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &km_device_info::compute_capability_minor},
      {cu::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &km_device_info::multiprocessor_count},
      {cu::CU_DEVICE_ATTRIBUTE_WARP_SIZE, &km_device_info::warp_size},
      {cu::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &km_device_info::max_threads_per_block},
      {cu::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, &km_device_info::memory_bus_width_bits}};
  for (const Row& row : kRows) {
    KM_ASSIGN(const int value, gpu.attribute(row.attribute));
    info->*row.member = static_cast<uint32_t>(value);
  }
  return {};
}

Status fill_sizes(const Gpu& gpu, km_device_info* info) {
  struct Row {
    cu::CUdevice_attribute attribute;
    uint64_t km_device_info::* member;
  };
  constexpr Row kRows[] = {
      {cu::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK,
       &km_device_info::shared_bytes_per_block},
      {cu::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
       &km_device_info::shared_bytes_per_block_max},
      {cu::CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &km_device_info::clock_rate_khz},
      {cu::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, &km_device_info::memory_clock_rate_khz}};
  for (const Row& row : kRows) {
    KM_ASSIGN(const int value, gpu.attribute(row.attribute));
    info->*row.member = static_cast<uint64_t>(value);
  }
  return {};
}

}  // namespace

km_status device_count(uint32_t* out_count, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    int count = 0;
    KM_TRY(check(driver().cuDeviceGetCount(&count)));
    *out_count = static_cast<uint32_t>(count);
    return {};
  });
}

km_status device_open(uint32_t ordinal, kmb_device** out_device, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_ASSIGN(PrimaryContext * primary, PrimaryContext::open(ordinal));
    *out_device = to(std::make_unique<Device>(*primary).release());
    return {};
  });
}

void device_close(kmb_device* device) { const std::unique_ptr<Device> last(from(device)); }

km_status device_info(kmb_device* device, km_device_info* out_info, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    const Gpu& gpu = from(device)->primary().gpu();
    km_device_info info{};
    size_t total = 0;
    KM_TRY(check(driver().cuDeviceGetName(info.name, sizeof info.name, gpu.device())));
    KM_TRY(check(driver().cuDeviceTotalMem_v2(&total, gpu.device())));
    info.total_memory_bytes = total;
    KM_TRY(fill_dimensions(gpu, &info));
    KM_TRY(fill_numbers(gpu, &info));
    KM_TRY(fill_sizes(gpu, &info));
    std::snprintf(info.isa, sizeof info.isa, "sm_%u%u", info.compute_capability_major,
                  info.compute_capability_minor);
    *out_info = info;
    return {};
  });
}

km_status device_attribute(kmb_device* device, km_device_attribute attribute, int64_t* out_value,
                           kmb_error* error) {
  return guarded(error, [&]() -> Status {
    PrimaryContext& primary = from(device)->primary();
    if (attribute == KM_DEVICE_ATTRIBUTE_STREAM_PRIORITY_LEAST ||
        attribute == KM_DEVICE_ATTRIBUTE_STREAM_PRIORITY_GREATEST) {
      KM_ASSIGN(const PrimaryContext::Priorities range, primary.priorities());
      *out_value =
          attribute == KM_DEVICE_ATTRIBUTE_STREAM_PRIORITY_LEAST ? range.least : range.greatest;
      return {};
    }
    // All other attributes are queried by CUDA's number.
    const int32_t number = attribute == KM_DEVICE_ATTRIBUTE_UNIFIED_MEMORY
                               ? cu::CU_DEVICE_ATTRIBUTE_INTEGRATED
                               : attribute - KM_DEVICE_ATTRIBUTE_CUDA;
    int value = 0;
    const Called called = driver().cuDeviceGetAttribute(&value, number, primary.gpu().device());
    if (called.result == cu::CUDA_ERROR_INVALID_VALUE) {
      Error error =
          make_error(KM_ERROR_NOT_SUPPORTED,
                     "the NVIDIA driver here, for CUDA %s, does not know device attribute %d",
                     version_text(driver_version()).c_str(), number);
      error.native_code = called.result;
      return error;
    }
    KM_TRY(check(called));
    *out_value = value;
    return {};
  });
}

km_status device_can_access_peer(kmb_device* device, kmb_device* peer, uint32_t* out_can_access,
                                 kmb_error* error) {
  return guarded(error, [&]() -> Status {
    int can_access = 0;
    const Gpu& gpu = from(device)->primary().gpu();
    const Gpu& other = from(peer)->primary().gpu();
    if (&gpu != &other) {
      KM_TRY(check(driver().cuDeviceCanAccessPeer(&can_access, gpu.device(), other.device())));
    }
    *out_can_access = can_access != 0;
    return {};
  });
}

}  // namespace km::cuda
