// Memory pools: device memory that goes around without going back to the device.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/memory/memory.h"

namespace km {

/// Blocks by size class, each an allocation of the backend and a Memory object of its own, which
/// are used again as a whole: nothing is split, so a block is never far larger than what was asked
/// for. A block is in use while anybody (a slice, a view, a launch, a graph) holds a reference to
/// its Memory; that is how blocks are pinned against reuse and trim.
class Pool final : public ContextChild {
 public:
  /// 0: no limit.
  static Result<Ref<Pool>> create(Context& context, uint64_t limit_bytes);

  /// Memory of `size_bytes`, not 0. With a stream in its order: a block whose last uses are on that
  /// stream will do; otherwise only one whose uses are over.
  Result<Ref<Memory>> allocate(Stream* stream, uint64_t size_bytes, bool zeroed,
                               uint64_t element_size_bytes);

  /// Blocks are given back to the device while the pool has more than this and some are free.
  void set_release_threshold(uint64_t threshold_bytes);
  /// Gives free blocks back until the pool has no more than this, or none are free.
  void trim(uint64_t keep_bytes);
  km_pool_info info() const;
  /// The high-water marks start again from what is there now.
  void reset_high_water();

  /// For Memory, whose last reference went: the block is free.
  void take_back(Memory& block);
  void handle_gone() override;

  /// Bytes of the block for an allocation: at most an eighth more, in steps of 256 bytes.
  static uint64_t class_bytes(uint64_t size_bytes);

 private:
  static constexpr size_t kClassCount = 424;
  struct SizeClass {
    std::vector<Memory*> free;  // the one freed last at the end
    size_t block_count = 0;     // free and in use; free has room for all of them
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

  mutable std::mutex mutex_;  // guards what follows
  std::array<SizeClass, kClassCount> classes_;
  km_pool_info info_{};
  bool closed_ = false;  // the caller's handle is gone: nobody can allocate
};

}  // namespace km
