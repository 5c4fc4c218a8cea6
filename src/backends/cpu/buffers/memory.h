// Device memory, page-locked host memory, and host memory that the program owns.
#pragma once

#include <cstdint>

#include "backend/interface.h"
#include "backends/cpu/memory/heap.h"

namespace km::cpu {

class Context;
class Stream;

class Memory {
 public:
  /// The memory that a block counts as: the device's or the host's.
  enum class Owner : uint8_t { device, host };
  /// Keeps the context alive and takes over `block`, which is empty for foreign memory.
  Memory(Context* context, uint64_t address, uint64_t size_bytes, const Heap::Block& block,
         Owner owner = Owner::host);
  /// Frees the block and posts the release callback.
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Moves the memory into a file. Fails with KM_ERROR_NOT_SUPPORTED for foreign memory.
  Result<kmb_shared_memory> share() const;
  /// Allows kernels of all contexts to access it.
  void open_to_all_contexts();
  void set_release(km_release_callback release, void* user_data) {
    release_ = release;
    user_data_ = user_data;
  }
  /// Sets a use that the core does not know: the fill that zeroes new memory.
  void set_own_use(const kmb_use& use) { own_use_ = use; }
  const kmb_use& own_use() const { return own_use_; }
  Context& context() const { return *context_; }
  uint64_t address() const { return address_; }
  uint64_t size_bytes() const { return size_bytes_; }

 private:
  Context* const context_;
  const uint64_t address_, size_bytes_;
  const Heap::Block block_;
  const Owner owner_;
  bool is_open_to_all_ = false;
  km_release_callback release_ = nullptr;
  void* user_data_ = nullptr;
  kmb_use own_use_{nullptr, 0};
};

}  // namespace km::cpu
