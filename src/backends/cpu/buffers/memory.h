// Device memory, pinned host memory, and host memory that somebody else owns.
#pragma once

#include <cstdint>

#include "backend/interface.h"
#include "backends/cpu/memory/heap.h"

namespace km::cpu {

class Context;
class Stream;

class Memory {
 public:
  /// Whose memory it is: the device's counts as taken of its share.
  enum class Owner : uint8_t { device, host };
  /// Keeps the context alive. Takes `block` over; none for foreign memory.
  Memory(Context* context, uint64_t address, uint64_t size_bytes, const Heap::Block& block,
         Owner owner = Owner::host);
  /// Gives the block back, and has the release callback run.
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Moves the memory into a file. KM_ERROR_NOT_SUPPORTED for foreign memory.
  Result<kmb_shared_memory> share() const;
  /// Kernels of all contexts may touch it.
  void open_to_all_contexts();
  void set_release(km_release_callback release, void* user_data) {
    release_ = release;
    user_data_ = user_data;
  }
  /// A use that nobody else knows of: the fill that makes new memory zero.
  void set_own_use(const kmb_use& use) { own_use_ = use; }
  const kmb_use& own_use() const { return own_use_; }
  Context& context() const { return *context_; }

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
