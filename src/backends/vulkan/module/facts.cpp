#include "backends/vulkan/module/facts.h"

#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "backends/vulkan/driver/driver_interface.h"
#include "backends/vulkan/module/self_test.h"

namespace km::vulkan {
namespace {

// llvmpipe ends the loops of a thread after so many rounds of all of them, without a word.
constexpr uint32_t kLlvmpipeLoopRounds = 65535;
// Its stack of masks of threads has 80 places, and it ignores what does not fit, without a word.
// Some are left to branches that its compiler makes.
constexpr uint32_t kLlvmpipeNesting = 72;

void tell_arithmetic(const Adapter& adapter, spirv::DeviceFacts* facts) {
  const VkPhysicalDeviceVulkan12Properties& properties = adapter.properties().v12;
  facts->can_preserve_denorms_32 = properties.shaderDenormPreserveFloat32 == VK_TRUE;
  facts->can_preserve_denorms_64 = properties.shaderDenormPreserveFloat64 == VK_TRUE;
  facts->can_round_to_nearest_32 = properties.shaderRoundingModeRTEFloat32 == VK_TRUE;
  facts->can_round_to_nearest_64 = properties.shaderRoundingModeRTEFloat64 == VK_TRUE;
  facts->can_preserve_nan_32 = properties.shaderSignedZeroInfNanPreserveFloat32 == VK_TRUE;
  facts->can_preserve_nan_64 = properties.shaderSignedZeroInfNanPreserveFloat64 == VK_TRUE;
}

void tell_subgroups(const Adapter& adapter, spirv::DeviceFacts* facts) {
  const VkPhysicalDeviceVulkan11Properties& properties = adapter.properties().v11;
  const VkPhysicalDeviceVulkan13Properties& sizes = adapter.properties().v13;
  const VkPhysicalDeviceVulkan13Features& features = adapter.features().v13;
  const bool in_compute = (properties.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0;
  const auto has = [&](VkSubgroupFeatureFlags flag) {
    return in_compute && (properties.subgroupSupportedOperations & flag) != 0;
  };
  facts->has_subgroup_shuffle = has(VK_SUBGROUP_FEATURE_SHUFFLE_BIT);
  facts->has_subgroup_vote = has(VK_SUBGROUP_FEATURE_VOTE_BIT);
  facts->has_subgroup_ballot = has(VK_SUBGROUP_FEATURE_BALLOT_BIT);
  const bool is_fixed = sizes.minSubgroupSize == sizes.maxSubgroupSize;
  if (in_compute && is_fixed) facts->subgroup_size = properties.subgroupSize;
  constexpr uint32_t kWarp = 32;
  facts->can_require_subgroup_32 =
      features.subgroupSizeControl == VK_TRUE && features.computeFullSubgroups == VK_TRUE &&
      (sizes.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0 &&
      sizes.minSubgroupSize <= kWarp && sizes.maxSubgroupSize >= kWarp;
}

/// Refuses what is not exact and has no other way in generated code: f64 as a whole, and a device
/// whose f32 is not exact.
Status refuse_inexact(const Adapter& adapter, spirv::DeviceFacts* facts) {
  using spirv::Exactness;
  for (const Exactness of_f64 :
       {facts->f64_arithmetic, facts->f64_fma, facts->f64_div, facts->f64_sqrt}) {
    if (of_f64 != Exactness::exact) facts->has_float64 = false;
  }
  if (facts->f32_arithmetic == Exactness::exact && facts->f32_fma == Exactness::exact) return {};
  return make_error(KM_ERROR_NOT_SUPPORTED,
                    "%s (%s) runs no kernels: its sums, products or fused products of f32 are not "
                    "exact (KM_LOG=info names the operations)",
                    device_uri(adapter).c_str(), adapter.name());
}

}  // namespace

spirv::DeviceFacts told_facts(const Adapter& adapter) {
  const FeatureChain& features = adapter.features();
  spirv::DeviceFacts facts;
  facts.name = adapter.name();
  facts.shared_memory_bytes = adapter.limits().maxComputeSharedMemorySize;
  facts.has_arena = driver_interface().has_arena;
  facts.has_buffer_addresses = !facts.has_arena && features.v12.bufferDeviceAddress == VK_TRUE;
  facts.has_unsigned_atomics_only = facts.has_arena;  // by SPIRV-Cross
  facts.has_int8 = features.v12.shaderInt8 == VK_TRUE;
  facts.has_int16 = features.head.features.shaderInt16 == VK_TRUE;
  facts.has_int64 = features.head.features.shaderInt64 == VK_TRUE;
  facts.has_float64 = features.head.features.shaderFloat64 == VK_TRUE;
  facts.has_storage_8bit = features.v12.storageBuffer8BitAccess == VK_TRUE;
  facts.has_storage_16bit = features.v11.storageBuffer16BitAccess == VK_TRUE;
  facts.has_int64_atomics = features.v12.shaderBufferInt64Atomics == VK_TRUE;
  facts.has_shared_int64_atomics = features.v12.shaderSharedInt64Atomics == VK_TRUE;
  facts.has_vulkan_memory_model = features.v12.vulkanMemoryModel == VK_TRUE;
  facts.has_memory_model_device_scope = features.v12.vulkanMemoryModelDeviceScope == VK_TRUE;
  if (adapter.properties().v12.driverID == VK_DRIVER_ID_MESA_LLVMPIPE) {
    facts.most_loop_iterations = kLlvmpipeLoopRounds;
    facts.memory_barriers_wait = true;
    facts.loses_loop_values = true;
    facts.idle_lanes_loop = true;
    facts.most_nesting = kLlvmpipeNesting;
    facts.switches_nest = facts.has_arena;  // Mesa's compiler of GLSL
  }
  tell_arithmetic(adapter, &facts);
  tell_subgroups(adapter, &facts);
  return facts;
}

Result<const spirv::DeviceFacts*> device_facts(const Adapter& adapter) {
  static std::mutex mutex;
  // Never destroyed: devices last as long as the process.
  static auto& known = *new std::map<const Adapter*, std::unique_ptr<const spirv::DeviceFacts>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<const spirv::DeviceFacts>& found = known[&adapter];
  if (!found) {
    KM_ASSIGN(spirv::DeviceFacts tried, try_arithmetic(adapter, told_facts(adapter)));
    KM_TRY(refuse_inexact(adapter, &tried));
    found = std::make_unique<const spirv::DeviceFacts>(tried);
  }
  return found.get();
}

}  // namespace km::vulkan
