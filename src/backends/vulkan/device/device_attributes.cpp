#include "backends/vulkan/device/device_attributes.h"

#include <algorithm>

namespace km::vulkan {
namespace {

constexpr uint32_t kCudaMaxBlockDim[3] = {1024, 1024, 64};
constexpr int64_t kConstantBytes = 64 << 10;

enum class Attribute : int32_t {
#define KM_DEVICE_ATTRIBUTE_ROW(number, name, unit) name = number,
#define KM_OWN_ATTRIBUTE(name, cuda_name)
#include "backend/device_attributes.def"
#undef KM_OWN_ATTRIBUTE
#undef KM_DEVICE_ATTRIBUTE_ROW
};

bool is_known(int32_t number) {
  switch (static_cast<Attribute>(number)) {
#define KM_DEVICE_ATTRIBUTE_ROW(number, name, unit) case Attribute::name:
#define KM_OWN_ATTRIBUTE(name, cuda_name)
#include "backend/device_attributes.def"
#undef KM_OWN_ATTRIBUTE
#undef KM_DEVICE_ATTRIBUTE_ROW
    return true;
  }
  return false;
}

}  // namespace

uint32_t max_block_dim(const Adapter& adapter, uint32_t axis) {
  return std::min(adapter.limits().maxComputeWorkGroupSize[axis], kCudaMaxBlockDim[axis]);
}

std::optional<int64_t> cuda_attribute(const Adapter& adapter, int32_t number) {
  const bool is_host = adapter.shares_host_memory();
  switch (static_cast<Attribute>(number)) {
    case Attribute::MAX_THREADS_PER_BLOCK:
    case Attribute::MAX_THREADS_PER_MULTIPROCESSOR:
      return adapter.max_threads_per_block();
    case Attribute::MAX_BLOCK_DIM_X:
      return max_block_dim(adapter, 0);
    case Attribute::MAX_BLOCK_DIM_Y:
      return max_block_dim(adapter, 1);
    case Attribute::MAX_BLOCK_DIM_Z:
      return max_block_dim(adapter, 2);
    case Attribute::MAX_GRID_DIM_X:
      return kMaxGridDim[0];
    case Attribute::MAX_GRID_DIM_Y:
      return kMaxGridDim[1];
    case Attribute::MAX_GRID_DIM_Z:
      return kMaxGridDim[2];
    case Attribute::MAX_SHARED_MEMORY_PER_BLOCK:
    case Attribute::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    case Attribute::MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
    case Attribute::MAX_OVERSIZED_SHARED_MEMORY_PER_BLOCK:
      return adapter.limits().maxComputeSharedMemorySize;
    case Attribute::TOTAL_CONSTANT_MEMORY:
      return kConstantBytes;
    case Attribute::WARP_SIZE:
      return kWarpSize;
    case Attribute::MAX_PITCH:
      return INT32_MAX;
    case Attribute::MULTIPROCESSOR_COUNT:  // Vulkan does not tell it, and users divide by it
    case Attribute::MAX_BLOCKS_PER_MULTIPROCESSOR:
    case Attribute::MEM_SYNC_DOMAIN_COUNT:
      return 1;
    case Attribute::MAX_REGISTERS_PER_BLOCK:
    case Attribute::MAX_REGISTERS_PER_MULTIPROCESSOR:
      return 64 << 10;
    case Attribute::UNIFIED_ADDRESSING:  // not in arenas, which all begin at one address
      return driver_interface().has_arena ? 0 : 1;
    case Attribute::INTEGRATED:
    case Attribute::MANAGED_MEMORY:
    case Attribute::CONCURRENT_MANAGED_ACCESS:
      return is_host ? 1 : 0;
    case Attribute::CAN_MAP_HOST_MEMORY:
    case Attribute::HOST_REGISTER_SUPPORTED:
      return adapter.can_import_host_memory() ? 1 : 0;
    case Attribute::COMPUTE_CAPABILITY_MAJOR:
      return kCapabilityMajor;
    case Attribute::COMPUTE_CAPABILITY_MINOR:
      return kCapabilityMinor;
    case Attribute::MEMORY_POOLS_SUPPORTED:
      return 1;
    case Attribute::GPU_PCI_DEVICE_ID:
      return adapter.properties().head.properties.deviceID;
    case Attribute::NUMA_ID:
    case Attribute::HOST_NUMA_ID:
      return -1;
    default:
      return is_known(number) ? std::optional<int64_t>(0) : std::nullopt;
  }
}

}  // namespace km::vulkan
