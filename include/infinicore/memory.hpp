// Blocks of memory and their allocators.
#ifndef INFINICORE_MEMORY_HPP
#define INFINICORE_MEMORY_HPP

#include <infinicore/device.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace infinicore {

/// A block of device or host memory. It is freed with its object, and may outlive the Runtime that
/// allocated it.
class Memory {
 public:
  /// Owns device memory, which is freed in the order of `stream`, after the work queued by then.
  Memory(km::slice<std::byte> slice, std::shared_ptr<const km::stream> stream, Device device)
      : slice_(std::move(slice)),
        stream_(std::move(stream)),
        data_(address_of(slice_)),
        size_(static_cast<std::size_t>(slice_.size())),
        device_(device) {}
  /// Owns host memory; `is_pinned` tells whether it is page-locked.
  Memory(km::host_memory<std::byte> memory, Device device, bool is_pinned) noexcept
      : host_(std::move(memory)),
        data_(host_.data()),
        size_(host_.size()),
        device_(device),
        is_pinned_(is_pinned) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { free_in_order(); }

  /// The first byte: a device address, which the host may use only on CPU devices, or host memory.
  std::byte* data() noexcept { return data_; }
  const std::byte* data() const noexcept { return data_; }
  /// The size in bytes.
  std::size_t size() const noexcept { return size_; }
  /// The device for which the memory was allocated.
  Device device() const noexcept { return device_; }
  /// True if it is page-locked host memory.
  bool is_pinned() const noexcept { return is_pinned_; }
  /// The memory as an argument of km's launches; empty for host memory.
  const km::slice<std::byte>& slice() const noexcept { return slice_; }

 private:
  static std::byte* address_of(const km::slice<std::byte>& slice) {
    return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(slice.address()));
  }
  // Kernels may have been given the raw address, which the library does not track, so the block is
  // freed in stream order. In a capture that is impossible, and the graph keeps the block.
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

/// The allocator of a Runtime, on a pool that all Runtimes of a device share: freed blocks are kept
/// and reused. In pin mode it notes all blocks that it allocates; whoever takes the notes reserves
/// these blocks. Any thread may call all functions.
class PinnableBlockAllocator {
 public:
  /// Blocks that are reserved while this object lives.
  using PinnedBlocks = std::vector<km::view<std::byte>>;

  explicit PinnableBlockAllocator(std::shared_ptr<const km::pool> pool) noexcept
      : pool_(std::move(pool)) {}

  /// A block of `size` bytes. KM_ERROR_OUT_OF_DEVICE_MEMORY when there is no room.
  km::slice<std::byte> allocate(std::size_t size) {
    auto block = pool_->allocate<std::byte>(size);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (pin_mode_) pinned_.push_back(block.part(0, block.size()));
    return block;
  }
  /// Starts or ends pin mode. Noted blocks that were not taken are released.
  void set_pin_mode(bool is_on) {
    PinnedBlocks gone;
    const std::lock_guard<std::mutex> lock(mutex_);
    pin_mode_ = is_on;
    gone.swap(pinned_);
  }
  /// True in pin mode, when blocks are noted.
  bool pin_mode() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return pin_mode_;
  }
  /// Transfers the notes to the caller, who thereby reserves the blocks.
  PinnedBlocks take_pinned() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(pinned_, {});
  }
  /// Returns free blocks to the device until the pool has at most `keep_bytes`.
  void trim(std::size_t keep_bytes = 0) { pool_->trim(keep_bytes); }
  /// The pool's sizes and counts: blocks in use, kept, reused.
  km_pool_info info() const { return pool_->info(); }

 private:
  std::shared_ptr<const km::pool> pool_;
  mutable std::mutex mutex_;
  bool pin_mode_ = false;
  PinnedBlocks pinned_;
};

}  // namespace infinicore

#endif
