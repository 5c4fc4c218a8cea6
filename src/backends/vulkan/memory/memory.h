// Memory of a context: slices, the program's memory, and page-locked memory.
#pragma once

#include <memory>

#include "backend/interface.h"
#include "backends/vulkan/device/buffer.h"
#include "backends/vulkan/stream/workspace.h"

namespace km::vulkan {

class Memory {
 public:
  explicit Memory(std::shared_ptr<const Workspace> workspace) : workspace_(std::move(workspace)) {}
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Memory of the device. `is_managed`: the host has to use it at the same address.
  Status allocate(uint64_t size_bytes, bool is_managed);
  /// The program's memory, which kernels then use too.
  Status use_pages(void* pointer, uint64_t size_bytes);
  /// Memory of the host that kernels use too.
  Status allocate_host(uint64_t size_bytes);
  void set_release(km_release_callback release, void* user_data) {
    release_ = release;
    user_data_ = user_data;
  }
  kmb_memory_info info() const;
  const Buffer& buffer() const { return *buffer_; }

 private:
  Status enter(uint64_t size_bytes, bool is_host);

  const std::shared_ptr<const Workspace> workspace_;
  std::unique_ptr<Buffer> buffer_;
  void* pages_ = nullptr;  // mapped by this object
  bool is_entered_ = false, is_host_ = false;
  km_release_callback release_ = nullptr;
  void* user_data_ = nullptr;
};

}  // namespace km::vulkan
