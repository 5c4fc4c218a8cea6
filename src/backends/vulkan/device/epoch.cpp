#include "backends/vulkan/device/epoch.h"

#include <numeric>

#include "backends/vulkan/device/pipeline_cache.h"
#include "backends/vulkan/driver/result.h"
#include "base/log.h"

namespace km::vulkan {
namespace {

constexpr uint32_t kQueries = 256;  // timestamps that are not read yet

/// Enables the features that kernels may need, of those that the device has. All others stay off,
/// because some cost speed (robustBufferAccess).
void choose_features(const FeatureChain& has, FeatureChain* wanted) {
  wanted->head.features.shaderInt64 = has.head.features.shaderInt64;
  wanted->head.features.shaderInt16 = has.head.features.shaderInt16;
  wanted->head.features.shaderFloat64 = has.head.features.shaderFloat64;
  wanted->v11.storageBuffer16BitAccess = has.v11.storageBuffer16BitAccess;
  wanted->v11.variablePointers = has.v11.variablePointers;
  wanted->v11.variablePointersStorageBuffer = has.v11.variablePointersStorageBuffer;
  const VkPhysicalDeviceVulkan12Features& from = has.v12;
  VkPhysicalDeviceVulkan12Features& to = wanted->v12;
  to.bufferDeviceAddress = from.bufferDeviceAddress;
  to.timelineSemaphore = from.timelineSemaphore;
  to.storageBuffer8BitAccess = from.storageBuffer8BitAccess;
  to.shaderInt8 = from.shaderInt8;
  to.shaderFloat16 = from.shaderFloat16;
  to.shaderBufferInt64Atomics = from.shaderBufferInt64Atomics;
  to.shaderSharedInt64Atomics = from.shaderSharedInt64Atomics;
  to.vulkanMemoryModel = from.vulkanMemoryModel;
  to.vulkanMemoryModelDeviceScope = from.vulkanMemoryModelDeviceScope;
  to.vulkanMemoryModelAvailabilityVisibilityChains =
      from.vulkanMemoryModelAvailabilityVisibilityChains;
  to.scalarBlockLayout = from.scalarBlockLayout;
  to.shaderSubgroupExtendedTypes = from.shaderSubgroupExtendedTypes;
  to.subgroupBroadcastDynamicId = from.subgroupBroadcastDynamicId;
  wanted->v13.subgroupSizeControl = has.v13.subgroupSizeControl;
  wanted->v13.computeFullSubgroups = has.v13.computeFullSubgroups;
  wanted->v13.maintenance4 = has.v13.maintenance4;
  wanted->v13.shaderZeroInitializeWorkgroupMemory = has.v13.shaderZeroInitializeWorkgroupMemory;
}

}  // namespace

Result<std::shared_ptr<Epoch>> Epoch::create(const Adapter& adapter) {
  if (are_driver_uses_over()) {
    return make_error(KM_ERROR_CONTEXT_LOST, "%s: the process is ending, and its driver has ended",
                      device_uri(adapter).c_str());
  }
  std::shared_ptr<Epoch> epoch(new Epoch(adapter));
  KM_TRY(epoch->create_device());
  KM_TRY(epoch->create_semaphore());
  KM_TRY(epoch->create_pools());
  epoch->completion_.emplace(epoch->device_, epoch->vk_.vkWaitSemaphores, epoch->timeline_);
  if (!epoch->completion_->start()) {
    return make_error(KM_ERROR_OUT_OF_HOST_MEMORY,
                      "cannot start the thread that waits for %s: raise the limit on processes "
                      "(ulimit -u)",
                      device_uri(adapter).c_str());
  }
  return epoch;
}

Status Epoch::create_device() {
  FeatureChain wanted;
  choose_features(adapter_.features(), &wanted);
  if (adapter_.has_version_13()) wanted.v12.pNext = &wanted.v13;
  const float priority = 1;
  const VkDeviceQueueCreateInfo queue{.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                      .pNext = nullptr,
                                      .flags = 0,
                                      .queueFamilyIndex = adapter_.queue_family(),
                                      .queueCount = 1,
                                      .pQueuePriorities = &priority};
  std::vector<const char*> extensions;
  if (adapter_.can_import_host_memory()) {
    extensions.push_back(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
  }
  const VkDeviceCreateInfo info{.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                .pNext = &wanted.head,
                                .flags = 0,
                                .queueCreateInfoCount = 1,
                                .pQueueCreateInfos = &queue,
                                .enabledLayerCount = 0,
                                .ppEnabledLayerNames = nullptr,
                                .enabledExtensionCount = static_cast<uint32_t>(extensions.size()),
                                .ppEnabledExtensionNames = extensions.data(),
                                .pEnabledFeatures = nullptr};
  KM_TRY(vulkan::check(
      instance_functions().vkCreateDevice(adapter_.handle(), &info, nullptr, &device_),
      "vkCreateDevice"));
  KM_ASSIGN(vk_, device_functions(device_));
  vk_.vkGetDeviceQueue(device_, adapter_.queue_family(), 0, &queue_);
  return {};
}

Status Epoch::create_semaphore() {
  const VkSemaphoreTypeCreateInfo type{.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                       .pNext = nullptr,
                                       .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
                                       .initialValue = 0};
  const VkSemaphoreCreateInfo info{
      .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type, .flags = 0};
  return vulkan::check(vk_.vkCreateSemaphore(device_, &info, nullptr, &timeline_),
                       "vkCreateSemaphore");
}

Status Epoch::create_pools() {
  const VkCommandPoolCreateInfo commands{.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                         .pNext = nullptr,
                                         .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                         .queueFamilyIndex = adapter_.queue_family()};
  KM_TRY(vulkan::check(vk_.vkCreateCommandPool(device_, &commands, nullptr, &command_pool_),
                       "vkCreateCommandPool"));
  KM_TRY(create_pipeline_cache());
  if (adapter_.timestamp_bits() == 0) return {};
  const VkQueryPoolCreateInfo queries{.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                      .pNext = nullptr,
                                      .flags = 0,
                                      .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                      .queryCount = kQueries,
                                      .pipelineStatistics = 0};
  KM_TRY(vulkan::check(vk_.vkCreateQueryPool(device_, &queries, nullptr, &queries_),
                       "vkCreateQueryPool"));
  free_queries_.resize(kQueries);
  std::iota(free_queries_.begin(), free_queries_.end(), 0U);
  return {};
}

Status Epoch::create_pipeline_cache() {
  const std::vector<uint8_t> kept = kept_pipelines(adapter_);
  kept_pipeline_bytes_ = kept.size();
  const VkPipelineCacheCreateInfo cache{.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                        .pNext = nullptr,
                                        .flags = 0,
                                        .initialDataSize = kept.size(),
                                        .pInitialData = kept.data()};
  return vulkan::check(vk_.vkCreatePipelineCache(device_, &cache, nullptr, &pipeline_cache_),
                       "vkCreatePipelineCache");
}

Epoch::~Epoch() {
  if (device_ == VK_NULL_HANDLE) return;
  completion_.reset();
  // Nothing is pending, because submissions keep the epoch; handles may be null.
  if (vk_.vkDestroyDevice == nullptr) return;
  vk().vkDestroyQueryPool(device_, queries_, nullptr);
  if (!has_failed() && !are_driver_uses_over() && pipeline_cache_ != VK_NULL_HANDLE) {
    keep_pipelines(adapter_, vk(), device_, pipeline_cache_, kept_pipeline_bytes_);
  }
  vk().vkDestroyPipelineCache(device_, pipeline_cache_, nullptr);
  vk().vkDestroyCommandPool(device_, command_pool_, nullptr);
  vk().vkDestroySemaphore(device_, timeline_, nullptr);
  vk().vkDestroyDevice(device_, nullptr);
}

void Epoch::fail(const Error& error) {
  const std::lock_guard lock(failure_mutex_);
  if (has_failed()) return;
  failure_ = error;
  has_failed_.store(true, std::memory_order_release);
  log(LogLevel::kInfo, "vulkan", "%s: the context has failed: %s", device_uri(adapter_).c_str(),
      error.message.c_str());
}

Error Epoch::failure() const {
  const std::lock_guard lock(failure_mutex_);
  return failure_;
}

Status Epoch::require_alive() const {
  if (!has_failed()) [[likely]]
    return {};
  return failure();
}

Status Epoch::check(VkResult result, const char* function) {
  if (result == VK_SUCCESS) [[likely]]
    return {};
  Error error = vulkan_error(result, function);
  if (are_driver_uses_over()) {
    error.message += ": the process is ending, and its driver has ended";
    return error;
  }
  if (result == VK_ERROR_DEVICE_LOST) {
    error.message += ": the driver has lost " + device_uri(adapter_) +
                     ", by a stray access of a kernel or its time limit; reset the context";
    fail(error);
  }
  return error;
}

Result<VkCommandBuffer> Epoch::take_commands() {
  {
    const std::lock_guard lock(free_mutex_);
    if (!free_commands_.empty()) {
      const VkCommandBuffer taken = free_commands_.back();
      free_commands_.pop_back();
      return taken;
    }
  }
  const VkCommandBufferAllocateInfo info{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                         .pNext = nullptr,
                                         .commandPool = command_pool_,
                                         .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                         .commandBufferCount = 1};
  VkCommandBuffer made = VK_NULL_HANDLE;
  KM_TRY(check(vk().vkAllocateCommandBuffers(device_, &info, &made), "vkAllocateCommandBuffers"));
  return made;
}

Status Epoch::submit(VkCommandBuffer commands, std::function<void(VkResult)> follow) {
  const std::lock_guard lock(queue_mutex_);
  const uint64_t value = submitted_ + 1;
  const VkTimelineSemaphoreSubmitInfo timeline{
      .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
      .pNext = nullptr,
      .waitSemaphoreValueCount = 0,
      .pWaitSemaphoreValues = nullptr,
      .signalSemaphoreValueCount = 1,
      .pSignalSemaphoreValues = &value};
  const VkSubmitInfo info{.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                          .pNext = &timeline,
                          .waitSemaphoreCount = 0,
                          .pWaitSemaphores = nullptr,
                          .pWaitDstStageMask = nullptr,
                          .commandBufferCount = 1,
                          .pCommandBuffers = &commands,
                          .signalSemaphoreCount = 1,
                          .pSignalSemaphores = &timeline_};
  KM_TRY(check(vk().vkQueueSubmit(queue_, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit"));
  submitted_ = value;
  completion_->add(
      value, [epoch = shared_from_this(), commands, follow = std::move(follow)](VkResult result) {
        {
          const std::lock_guard free_lock(epoch->free_mutex_);
          epoch->free_commands_.push_back(commands);
        }
        follow(result);
      });
  return {};
}

std::optional<uint32_t> Epoch::take_query() {
  const std::lock_guard lock(free_mutex_);
  if (free_queries_.empty()) return std::nullopt;
  const uint32_t taken = free_queries_.back();
  free_queries_.pop_back();
  return taken;
}

void Epoch::give_query_back(uint32_t query) {
  const std::lock_guard lock(free_mutex_);
  free_queries_.push_back(query);
}

Result<int64_t> Epoch::time_ns(uint32_t query) {
  uint64_t ticks = 0;
  KM_TRY(check(vk().vkGetQueryPoolResults(device_, queries_, query, 1, sizeof ticks, &ticks,
                                          sizeof ticks, VK_QUERY_RESULT_64_BIT),
               "vkGetQueryPoolResults"));
  const uint32_t bits = adapter_.timestamp_bits();
  if (bits < 64) ticks &= (uint64_t{1} << bits) - 1;
  return static_cast<int64_t>(static_cast<double>(ticks) *
                              static_cast<double>(adapter_.limits().timestampPeriod));
}

}  // namespace km::vulkan
