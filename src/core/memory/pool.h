// Memory pools: device memory that is reused without returning to the device.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/memory/memory.h"

namespace km {

/// Blocks by size class. Each is an allocation of the backend and a Memory object, and is reused as
/// a whole: blocks are not split, so a block is never much larger than the request. A block is in
/// use while a slice, view, launch or graph holds a reference to its Memory; the reference protects
/// it from reuse and trim.
class Pool final : public ContextChild {
 public:
  /// A limit of 0 means no limit.
  static Result<Ref<Pool>> create(Context& context, uint64_t limit_bytes);

  /// `size_bytes` must not be 0. With a stream, a block may be reused while its last uses are
  /// queued on that stream; without one, only if all its uses are over.
  Result<Ref<Memory>> allocate(Stream* stream, uint64_t size_bytes, bool zeroed,
                               uint64_t element_size_bytes);

  /// Above this size, the pool returns free blocks to the device.
  void set_release_threshold(uint64_t threshold_bytes);
  /// Returns idle free blocks until the pool has at most `keep_bytes`, or none are left.
  void trim(uint64_t keep_bytes);
  km_pool_info info() const;
  /// Restarts the high-water marks from the current values.
  void reset_high_water();

  /// Called by Memory when a block's last reference is dropped: the block is free.
  void take_back(Memory& block);
  void handle_gone() override;

  /// The block size for an allocation: at most an eighth larger, in steps of 256 bytes.
  static uint64_t class_bytes(uint64_t size_bytes);

 private:
  static constexpr size_t kClassCount = 424;
  struct SizeClass {
    std::vector<Memory*> free;  // the block freed last is at the end
    size_t block_count = 0;     // of free and used blocks; `free` has capacity for all of them
  };

  struct Reservation;

  Pool(Context& context, uint64_t limit_bytes);
  ~Pool() override;
  static size_t class_index(uint64_t class_bytes);
  static Memory* take_at(SizeClass& size_class, size_t index);
  static Memory* take_free(SizeClass& size_class, const kmb_stream* stream, size_t limit);
  Memory* reuse(uint64_t block_bytes, const kmb_stream* stream, size_t limit);
  Result<Memory*> add_block(Stream* stream, uint64_t block_bytes, bool zeroed);
  bool reserve(uint64_t block_bytes);
  void cancel(uint64_t block_bytes);
  void count_use(uint64_t block_bytes);
  Status zero(Memory& memory, Stream* stream);
  Memory* take_surplus(uint64_t keep_bytes, bool idle_only);
  void give_back(uint64_t keep_bytes);
  Error over_limit(uint64_t block_bytes) const;

  mutable std::mutex mutex_;  // guards the members below
  std::array<SizeClass, kClassCount> classes_;
  km_pool_info info_{};
  bool closed_ = false;  // the program's handle was destroyed: no caller can allocate
};

}  // namespace km
