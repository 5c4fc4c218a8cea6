// Device memory: large allocations in guarded ranges of their own, small ones in shared slabs that
// are guarded at their ends. Freed memory is kept for the next request of about the same size.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend/interface.h"
#include "backends/cpu/memory/address_space.h"
#include "base/file/file.h"
#include "base/result.h"

namespace km::cpu {

/// A size as messages of devices name it, in MiB.
std::string mib(uint64_t bytes);

class Heap {
 public:
  static constexpr uint64_t kAlignBytes = 256;
  static constexpr uint64_t kLargeBytes = 1 << 20;  // from here on a range of its own

  /// One allocation. `fresh`: the memory has never been used, so it is zero.
  struct Block {
    uint64_t address = 0;
    uint64_t size_bytes = 0;      // as asked for
    uint64_t reserved_bytes = 0;  // what it takes
    bool fresh = false;
  };

  /// The heap of the process: all CPU devices share the memory of the machine.
  static Heap& instance();

  /// KM_ERROR_OUT_OF_DEVICE_MEMORY before anything is touched that the system does not have.
  /// `zeroed`: fresh memory is welcome; check Block::fresh.
  Result<Block> allocate(uint64_t size_bytes, bool zeroed = false);
  void free(const Block& block);

  /// Moves the range that the block lies in, which is its slab's when it is small, into a file that
  /// other processes can map.
  Result<kmb_shared_memory> share(const Block& block);

  /// The memory that a further allocation could take, and the whole.
  void memory_info(uint64_t* out_free_bytes, uint64_t* out_total_bytes);
  /// Gives memory that is kept for reuse back to the system.
  void trim();
  /// Bytes handed out now, and kept for reuse.
  uint64_t allocated_bytes();
  uint64_t kept_bytes();

 private:
  struct Slab {
    GuardedRange range;
    uint64_t block_bytes = 0;
    uint32_t carved = 0;         // blocks that have been handed out at least once
    std::vector<uint32_t> free;  // of those, the ones that are free
  };

  Result<Block> allocate_small(uint64_t size_bytes);
  Result<Block> allocate_large(uint64_t size_bytes, bool zeroed);
  void free_small(const Block& block);
  void free_large(const Block& block);
  const GuardedRange& range_of(const Block& block);
  bool take_kept(uint64_t range_bytes, GuardedRange* out_range);
  Status check_room(uint64_t size_bytes);
  uint64_t room();
  void trim_locked(uint64_t keep_bytes);

  std::mutex mutex_;
  std::map<uint64_t, std::unique_ptr<Slab>> slabs_;         // by address
  std::map<uint64_t, std::vector<Slab*>> slabs_with_room_;  // by block size
  std::map<uint64_t, GuardedRange> large_;                  // in use, by address of the block
  std::multimap<uint64_t, GuardedRange> kept_;              // by size
  std::map<uint64_t, File> shared_;                         // by the beginning of the range
  uint64_t kept_bytes_ = 0;
  uint64_t allocated_bytes_ = 0;
  uint64_t reserved_bytes_ = 0;  // of allocated blocks, with what rounding adds
  uint64_t sampled_ns_ = 0;      // of the figures for memory_info()
  uint64_t sampled_room_ = 0;    // room at that time, plus reserved_bytes_ then
};

}  // namespace km::cpu
