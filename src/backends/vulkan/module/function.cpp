// Kernels: what is known of them, and their code.
#include <algorithm>
#include <cinttypes>

#include "backends/vulkan/device/device_attributes.h"
#include "backends/vulkan/driver/entries.h"
#include "backends/vulkan/module/module.h"
#include "base/integers.h"
#include "base/text.h"
#include "ptx/place.h"
#include "simt/kernel/shared_memory.h"

namespace km::vulkan {
namespace {

constexpr uint64_t kWordBytes = 4, kDynamicAlignBytes = 16;

uint64_t most_shared_bytes(const Module& module) {
  return module.epoch()->adapter().limits().maxComputeSharedMemorySize;
}

/// Shared memory of a kernel that launches do not choose, up to where their part begins.
uint64_t fixed_shared_bytes(const spirv::Kernel& kernel) {
  return round_up(kernel.info.shared_static_bytes, kDynamicAlignBytes) + kernel.shared_extra_bytes;
}

/// Shared memory ends where it would on a GPU, in whole granules if the device has so much: kernels
/// may access the gap.
uint64_t given_dynamic_bytes(const Function& function, uint64_t shared_bytes) {
  if (shared_bytes == 0) return 0;
  const spirv::Kernel& kernel = function.kernel();
  const uint64_t before = round_up(kernel.info.shared_static_bytes, kDynamicAlignBytes);
  const uint64_t end = round_up(before + shared_bytes, simt::kSharedGranuleBytes);
  const uint64_t most = most_shared_bytes(function.module()) - fixed_shared_bytes(kernel);
  return std::max(std::min(end - before, most), round_up(shared_bytes, kWordBytes));
}

}  // namespace

Function::Function(const Module& module, uint32_t index)
    : module_(module),
      index_(index),
      kernel_(module.program().kernels()[index]),
      pipelines_(module.epoch(), kernel_.needs_subgroup_32) {
  for (const simt::Param& param : info().params) {
    params_.push_back(
        {param.kind, param.align_bytes, param.size_bytes, param.offset_bytes, param.type, 0});
  }
  native_info_.name = info().name.c_str();
  native_info_.param_count = static_cast<uint32_t>(params_.size());
  native_info_.params = params_.data();
  native_info_.param_bytes = info().param_bytes;
  if (!info().refusal.empty()) native_info_.refusal = info().refusal.c_str();
  const uint64_t most = most_shared_bytes(module_);
  max_dynamic_shared_bytes_ = most - std::min(fixed_shared_bytes(kernel_), most);
}

std::string Function::source_name() const { return km::source_name(info().name); }

std::string Function::position_of(uint32_t ptx_line) const {
  return ptx::place_of_line(module_.name(), ptx_line,
                            ptx::source_place_of_line(module_.text(), ptx_line));
}

Status Function::set_max_dynamic_shared_bytes(int64_t value) {
  const uint64_t all = most_shared_bytes(module_), fixed = fixed_shared_bytes(kernel_);
  const uint64_t most = all - std::min(all, fixed);
  if (value < 0 || static_cast<uint64_t>(value) > most) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "kernel '%s' cannot have %" PRId64
                      " bytes of dynamic shared memory: at most %" PRIu64 " (the device's %" PRIu64
                      " less its static ones, %" PRIu64 ")",
                      source_name().c_str(), value, most, all, fixed);
  }
  max_dynamic_shared_bytes_ = static_cast<uint64_t>(value);
  return {};
}

Result<int64_t> Function::attribute(km_function_attribute attribute) const {
  const uint32_t most_threads = module_.epoch()->adapter().max_threads_per_block();
  switch (attribute) {
    case KM_FUNCTION_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return int64_t{std::min(info().max_threads, most_threads)};
    case KM_FUNCTION_ATTRIBUTE_SHARED_BYTES:
      return static_cast<int64_t>(info().shared_static_bytes);
    case KM_FUNCTION_ATTRIBUTE_CONSTANT_BYTES:
      return static_cast<int64_t>(info().constant_bytes);
    case KM_FUNCTION_ATTRIBUTE_LOCAL_BYTES:
      return static_cast<int64_t>(info().local_bytes);
    case KM_FUNCTION_ATTRIBUTE_REGISTERS:
      return int64_t{std::min(info().registers, 255U)};
    case KM_FUNCTION_ATTRIBUTE_PTX_VERSION:
      return int64_t{info().ptx_version};
    case KM_FUNCTION_ATTRIBUTE_TARGET:
      return int64_t{info().target};
    case KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES:
      return static_cast<int64_t>(max_dynamic_shared_bytes());
    case KM_FUNCTION_ATTRIBUTE_EXECUTION_MODE:
      return KM_EXECUTION_MODE_UNKNOWN;
    case KM_FUNCTION_ATTRIBUTE_BINARY_VERSION:
      return int64_t{10 * kCapabilityMajor + kCapabilityMinor};
    case KM_FUNCTION_ATTRIBUTE_SHARED_CARVEOUT_PERCENT:
      return -1;
    case KM_FUNCTION_ATTRIBUTE_CACHE_GLOBALS:
    case KM_FUNCTION_ATTRIBUTE_CLUSTER_REQUIRED:
    case KM_FUNCTION_ATTRIBUTE_NON_PORTABLE_CLUSTER:
    case KM_FUNCTION_ATTRIBUTE_CLUSTER_POLICY:
      return 0;
    case KM_FUNCTION_ATTRIBUTE_CLUSTER_X:
    case KM_FUNCTION_ATTRIBUTE_CLUSTER_Y:
    case KM_FUNCTION_ATTRIBUTE_CLUSTER_Z:
      return int64_t{info().cluster[attribute - KM_FUNCTION_ATTRIBUTE_CLUSTER_X]};
    default:
      return make_error(KM_ERROR_INVALID_ARGUMENT, "there is no function attribute %d", attribute);
  }
}

Result<VkPipeline> Function::pipeline(const uint32_t block[3], uint64_t shared_bytes) {
  const uint64_t given_bytes = given_dynamic_bytes(*this, shared_bytes);
  const BlockShape shape{block[0], block[1], block[2],
                         static_cast<uint32_t>(given_bytes / kWordBytes)};
  return pipelines_.find_or_make(
      shape, [this] { return spirv::translate(module_.program(), index_, module_.options()); });
}

km_status function_info(kmb_function* function, kmb_function_info* out_info, kmb_error*) {
  *out_info = from(function)->native_info();
  return KM_SUCCESS;
}

km_status function_attribute_get(kmb_function* function, km_function_attribute attribute,
                                 int64_t* out_value, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_ASSIGN(*out_value, from(function)->attribute(attribute));
    return {};
  });
}

km_status function_attribute_set(kmb_function* function, km_function_attribute attribute,
                                 int64_t value, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    if (attribute != KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES) {
      return make_error(KM_ERROR_INVALID_ARGUMENT,
                        "function attribute %d cannot be set on Vulkan devices", attribute);
    }
    return from(function)->set_max_dynamic_shared_bytes(value);
  });
}

}  // namespace km::vulkan
