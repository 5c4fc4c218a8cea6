// Blocks of memory, and the allocators that they come from.
#ifndef INFINICORE_MEMORY_HPP
#define INFINICORE_MEMORY_HPP

#include <infinicore/device.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace infinicore {

/// A block of memory of a device, or of the host. It frees itself, and may outlive the Runtime that
/// made it.
class Memory {
 public:
  /// Device memory, which is freed after the work that is queued in `stream` by then.
  Memory(km::slice<std::byte> slice, std::shared_ptr<const km::stream> stream, Device device)
      : slice_(std::move(slice)),
        stream_(std::move(stream)),
        data_(address_of(slice_)),
        size_(static_cast<std::size_t>(slice_.size())),
        device_(device) {}
  /// Memory of the host; `is_pinned` says whether it is page-locked.
  Memory(km::host_memory<std::byte> memory, Device device, bool is_pinned) noexcept
      : host_(std::move(memory)),
        data_(host_.data()),
        size_(host_.size()),
        device_(device),
        is_pinned_(is_pinned) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { free_in_order(); }

  /// The first byte: a device address, which the host may use on CPU devices only, or host memory.
  std::byte* data() noexcept { return data_; }
  const std::byte* data() const noexcept { return data_; }
  /// Its size in bytes.
  std::size_t size() const noexcept { return size_; }
  /// The device that it was made for.
  Device device() const noexcept { return device_; }
  /// True when it is page-locked memory of the host.
  bool is_pinned() const noexcept { return is_pinned_; }
  /// The memory as an argument of km's launches; empty for memory of the host.
  const km::slice<std::byte>& slice() const noexcept { return slice_; }

 private:
  static std::byte* address_of(const km::slice<std::byte>& slice) {
    return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(slice.address()));
  }
  // Kernels may have been given the address, which the library cannot see: the block is free when
  // the stream got here. In a capture that cannot be said, and the graph keeps the block.
  void free_in_order() noexcept {
    if (!slice_ || !stream_ || km::detail::is_captured(stream_->get())) return;
    if (km_slice_destroy_on_stream(slice_.get(), stream_->get()) == KM_SUCCESS) slice_.release();
  }

  km::slice<std::byte> slice_;
  km::host_memory<std::byte> host_;
  std::shared_ptr<const km::stream> stream_;
  std::byte* data_;
  std::size_t size_;
  Device device_;
  bool is_pinned_ = false;
};

/// The allocator of a Runtime, on a pool that all Runtimes of a device share: blocks that are freed
/// are kept and given out again. In pin mode it notes all blocks that it gives out, which are then
/// reserved for who takes the notes. Any thread may call all functions.
class PinnableBlockAllocator {
 public:
  /// Blocks that nobody else gets while they are held.
  using PinnedBlocks = std::vector<km::view<std::byte>>;

  explicit PinnableBlockAllocator(std::shared_ptr<const km::pool> pool) noexcept
      : pool_(std::move(pool)) {}

  /// A block of so many bytes. KM_ERROR_OUT_OF_DEVICE_MEMORY when there is no room.
  km::slice<std::byte> allocate(std::size_t size) {
    auto block = pool_->allocate<std::byte>(size);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (pin_mode_) pinned_.push_back(block.part(0, block.size()));
    return block;
  }
  /// Begins or ends the noting of blocks. Blocks that were noted and not taken are let go.
  void set_pin_mode(bool is_on) {
    PinnedBlocks gone;
    const std::lock_guard<std::mutex> lock(mutex_);
    pin_mode_ = is_on;
    gone.swap(pinned_);
  }
  /// True when blocks are noted.
  bool pin_mode() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return pin_mode_;
  }
  /// Takes the notes over.
  PinnedBlocks take_pinned() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(pinned_, {});
  }
  /// Gives free blocks back to the device until at most `keep_bytes` are held.
  void trim(std::size_t keep_bytes = 0) { pool_->trim(keep_bytes); }
  /// Figures: blocks in use, held, given out again.
  km_pool_info info() const { return pool_->info(); }

 private:
  std::shared_ptr<const km::pool> pool_;
  mutable std::mutex mutex_;
  bool pin_mode_ = false;
  PinnedBlocks pinned_;
};

}  // namespace infinicore

#endif
