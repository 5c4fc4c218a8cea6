#include "backends/vulkan/device/commands.h"

namespace km::vulkan {
namespace {

constexpr VkPipelineStageFlags kAllStages = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
constexpr VkAccessFlags kAllAccesses = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;

}  // namespace

Result<Commands> Commands::begin(Epoch& epoch) {
  KM_ASSIGN(const VkCommandBuffer handle, epoch.take_commands());
  Commands commands(epoch, handle);
  const VkCommandBufferBeginInfo info{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .pNext = nullptr,
                                      .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
                                      .pInheritanceInfo = nullptr};
  KM_TRY(epoch.check(epoch.vk().vkBeginCommandBuffer(handle, &info), "vkBeginCommandBuffer"));
  commands.barrier();
  return commands;
}

Status Commands::end() {
  order(VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT | VK_ACCESS_HOST_WRITE_BIT);
  return epoch_->check(vk().vkEndCommandBuffer(handle_), "vkEndCommandBuffer");
}

void Commands::order(VkPipelineStageFlags stage, VkAccessFlags access) {
  const VkMemoryBarrier barrier{.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                .pNext = nullptr,
                                .srcAccessMask = kAllAccesses,
                                .dstAccessMask = access};
  vk().vkCmdPipelineBarrier(handle_, kAllStages, stage, 0, 1, &barrier, 0, nullptr, 0, nullptr);
}

void Commands::barrier() { order(kAllStages, kAllAccesses); }

void Commands::copy(BufferPlace to, BufferPlace from, uint64_t size_bytes) {
  const VkBufferCopy region{
      .srcOffset = from.offset_bytes, .dstOffset = to.offset_bytes, .size = size_bytes};
  copy(to.buffer, from.buffer, {&region, 1});
}

void Commands::copy(VkBuffer to, VkBuffer from, std::span<const VkBufferCopy> regions) {
  vk().vkCmdCopyBuffer(handle_, from, to, static_cast<uint32_t>(regions.size()), regions.data());
}

void Commands::fill(BufferPlace to, uint64_t size_bytes, uint32_t word) {
  vk().vkCmdFillBuffer(handle_, to.buffer, to.offset_bytes, size_bytes, word);
}

void Commands::write_time(uint32_t query) {
  vk().vkCmdResetQueryPool(handle_, epoch_->queries(), query, 1);
  vk().vkCmdWriteTimestamp(handle_, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, epoch_->queries(), query);
}

}  // namespace km::vulkan
