// Device memory, and host memory that the device can access.
#pragma once

#include <memory>

#include "backends/cuda/stream/stream.h"

namespace km::cuda {

class Memory {
 public:
  enum class Kind : uint8_t { pool, device, managed, host, foreign };

  Memory(std::shared_ptr<Epoch> epoch, Kind kind, uint64_t size_bytes)
      : epoch_(std::move(epoch)), kind_(kind), size_bytes_(size_bytes) {}
  /// Does not wait: the caller guarantees that all uses are over.
  ~Memory();

  /// Allocates device memory in the order of a stream; null: usable at once.
  Status allocate(Stream* stream, bool is_zeroed);
  /// Allocates page-locked host memory.
  Status map_host();
  /// Makes the host program's memory usable. It is page-locked (read-only if the program cannot
  /// write it), or used as it is if it cannot be locked and the device reads pageable memory.
  Status lock_foreign(void* pointer);
  void set_release(km_release_callback release, void* user_data) {
    release_ = release;
    user_data_ = user_data;
  }

  kmb_memory_info info() const { return {address_, host_pointer_, size_bytes_, ready_ticket_}; }
  /// The stream in whose order it was allocated.
  const std::shared_ptr<Stream>& birth() const { return birth_; }
  /// True for memory of a pool, which is freed in the order of its uses without waiting.
  bool can_free_in_order() const { return kind_ == Kind::pool; }
  Status free_in_order(std::span<const kmb_use> uses);

 private:
  Status allocate_at_once(bool is_zeroed);
  Status allocate_managed();
  Status zero(cu::CUstream stream);
  Status lock_pages();
  Called register_pages(unsigned flags);
  Status check_registered(Called called);
  Status explain_refusal(Called called, bool is_writable) const;
  Status find_locked_address();
  void free_device(cu::CUstream stream);
  Result<cu::CUstream> stream_after(std::span<const kmb_use> uses);

  const std::shared_ptr<Epoch> epoch_;
  const Kind kind_;
  const uint64_t size_bytes_;
  cu::CUdeviceptr address_ = 0;
  void* host_pointer_ = nullptr;
  bool is_locked_ = false;
  std::shared_ptr<Stream> birth_;
  uint64_t ready_ticket_ = 0;
  km_release_callback release_ = nullptr;
  void* user_data_ = nullptr;
};

}  // namespace km::cuda
