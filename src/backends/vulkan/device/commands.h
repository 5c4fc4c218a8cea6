// A command buffer while it is recorded.
#pragma once

#include <span>

#include "backends/vulkan/device/epoch.h"

namespace km::vulkan {

class Commands {
 public:
  /// Takes a command buffer of the epoch, whose commands begin when all earlier ones are over.
  static Result<Commands> begin(Epoch& epoch);
  /// Makes what the commands have written visible to the host.
  Status end();

  VkCommandBuffer handle() const { return handle_; }
  const DeviceFunctions& vk() const { return epoch_->vk(); }

  void copy(BufferPlace to, BufferPlace from, uint64_t size_bytes);
  /// Copies regions, whose offsets count from the begin of the buffers.
  void copy(VkBuffer to, VkBuffer from, std::span<const VkBufferCopy> regions);
  /// Fills words: offset and size are multiples of 4.
  void fill(BufferPlace to, uint64_t size_bytes, uint32_t word);
  /// Lets later commands see what earlier ones have written.
  void barrier();
  /// Writes the time at which all earlier commands are over.
  void write_time(uint32_t query);

 private:
  Commands(Epoch& epoch, VkCommandBuffer handle) : epoch_(&epoch), handle_(handle) {}
  void order(VkPipelineStageFlags stage, VkAccessFlags access);

  Epoch* epoch_;
  VkCommandBuffer handle_;
};

}  // namespace km::vulkan
