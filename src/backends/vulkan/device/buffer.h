// A buffer with memory of its own: of the device, of the host, or the program's pages.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "backends/vulkan/device/epoch.h"

namespace km::vulkan {

class Buffer {
 public:
  /// Memory for kernels: the device's own, which is mapped too if it is the host's.
  static Result<std::unique_ptr<Buffer>> of_device(const std::shared_ptr<Epoch>& epoch,
                                                   uint64_t size_bytes);
  /// Mapped memory of the host that kernels and copies reach.
  static Result<std::unique_ptr<Buffer>> of_host(const std::shared_ptr<Epoch>& epoch,
                                                 uint64_t size_bytes);
  /// The pages of the program with [pointer, pointer + size), which stay mapped while the buffer
  /// exists. KM_ERROR_NOT_SUPPORTED if the driver takes no memory of the host, or not these pages.
  static Result<std::unique_ptr<Buffer>> of_pages(const std::shared_ptr<Epoch>& epoch,
                                                  void* pointer, uint64_t size_bytes);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  /// The place of the first byte; that of of_pages() is the pointer's.
  BufferPlace place() const { return {buffer_, skipped_bytes_, mapped_}; }
  uint64_t address() const { return address_; }
  uint64_t size_bytes() const { return size_bytes_; }
  /// Null if the memory is not mapped.
  void* mapped() const { return mapped_; }
  const std::shared_ptr<Epoch>& epoch() const { return epoch_; }

 private:
  Buffer(std::shared_ptr<Epoch> epoch, uint64_t size_bytes)
      : epoch_(std::move(epoch)), size_bytes_(size_bytes) {}
  /// The memory's properties, in the order of importance: all of `needed`, then some of `liked`.
  Status allocate(VkMemoryPropertyFlags needed, VkMemoryPropertyFlags liked);
  Status create_buffer(uint64_t size_bytes, bool is_imported, VkMemoryRequirements* out_needs);
  Status bind(const VkMemoryAllocateInfo& info);
  Status import(void* pointer);

  const std::shared_ptr<Epoch> epoch_;
  const uint64_t size_bytes_;
  uint64_t skipped_bytes_ = 0, allocated_bytes_ = 0, address_ = 0;
  VkBuffer buffer_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  void* mapped_ = nullptr;
};

}  // namespace km::vulkan
