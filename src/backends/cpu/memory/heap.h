// Device memory: large allocations have guarded ranges of their own, small ones share slabs with
// guards at both ends. Freed memory is kept for requests of about the same size. Addresses outlive
// their memory: a kernel with a stale pointer faults, and never writes to memory that the program
// got from the system since.
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

/// A size in MiB, as messages of devices show it.
std::string mib(uint64_t bytes);

class Heap {
 public:
  static constexpr uint64_t kAlignBytes = 256;
  // From this size on, an allocation has its own range.
  static constexpr uint64_t kLargeBytes = 1 << 20;

  /// One allocation. `fresh` means that the memory was never used, so it is zero.
  struct Block {
    uint64_t address = 0;
    uint64_t size_bytes = 0;      // as requested
    uint64_t reserved_bytes = 0;  // with rounding
    bool fresh = false;
  };

  /// The heap of the process, which all CPU devices share like the machine's memory.
  static Heap& instance();

  /// Fails with KM_ERROR_OUT_OF_DEVICE_MEMORY before memory is touched that the system does not
  /// have. `zeroed` prefers fresh memory; the caller checks Block::fresh.
  Result<Block> allocate(uint64_t size_bytes, bool zeroed = false);
  void free(const Block& block);

  /// Moves the range of the block, for small blocks the whole slab, into a file that other
  /// processes can map.
  Result<kmb_shared_memory> share(const Block& block);

  /// The bytes that a further allocation could take, and the total.
  void memory_info(uint64_t* out_free_bytes, uint64_t* out_total_bytes);
  /// Returns the memory that is kept for reuse to the operating system.
  void trim();
  /// Bytes in use, bytes that are kept for reuse, and addresses without memory.
  uint64_t allocated_bytes();
  uint64_t kept_bytes();
  uint64_t retired_bytes();

 private:
  struct Slab {
    GuardedRange range;
    uint64_t block_bytes = 0;
    uint32_t carved = 0;         // blocks that were allocated at least once
    std::vector<uint32_t> free;  // blocks among them that are free
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
  void retire(GuardedRange range);
  GuardedRange take_range(uint64_t size_bytes, uint64_t align_bytes);
  void release_addresses();

  std::mutex mutex_;
  std::map<uint64_t, std::unique_ptr<Slab>> slabs_;         // by address
  std::map<uint64_t, std::vector<Slab*>> slabs_with_room_;  // by block size
  std::map<uint64_t, GuardedRange> large_;                  // in use, by the block's address
  std::multimap<uint64_t, GuardedRange> kept_;              // by size
  std::map<uint64_t, File> shared_;                         // by the range's beginning
  std::multimap<uint64_t, GuardedRange> retired_;           // addresses without memory, by size
  uint64_t retired_bytes_ = 0;
  uint64_t kept_bytes_ = 0;
  uint64_t allocated_bytes_ = 0;
  uint64_t reserved_bytes_ = 0;  // of allocated blocks, with rounding
  uint64_t sampled_ns_ = 0;      // time of the last sample for memory_info()
  uint64_t sampled_room_ = 0;    // room() at that time plus reserved_bytes_ at that time
};

}  // namespace km::cpu
