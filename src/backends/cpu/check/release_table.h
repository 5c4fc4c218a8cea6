// ReleaseTable, the knowledge that threads have released at addresses during one launch.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "backends/cpu/check/knowledge.h"
#include "simt/runtime/check/check_runtime.h"

namespace km::cpu {

/// Hands knowledge from threads that release at an address to those that acquire there.
/// Thread-safe.
class ReleaseTable {
 public:
  /// Who publishes, and for whom.
  struct Release {
    uint32_t block;
    simt::MemoryScope scope;
    bool adds;  // an atomic keeps what earlier ones released; a store does not
  };
  /// A strong write or an atomic at the address. `known` is null if it publishes nothing.
  void release(uint64_t address, const Release& by, const SharedKnowledge& known);
  /// The knowledge that a strong read or an atomic of the block gets there; null: none.
  SharedKnowledge acquire(uint64_t address, uint32_t block, simt::MemoryScope scope) const;

 private:
  static constexpr size_t kShards = 64;
  struct Place {
    SharedKnowledge for_all;
    SharedKnowledge for_block;  // released with the scope of a block
    uint32_t block = 0;         // of for_block
    uint32_t last_block = 0;    // the last one that released for all
  };
  struct Shard {
    mutable std::mutex mutex;
    std::unordered_map<uint64_t, Place> places;
  };
  Shard& shard(uint64_t address) { return shards_[(address >> 2) % kShards]; }
  const Shard& shard(uint64_t address) const { return shards_[(address >> 2) % kShards]; }

  std::array<Shard, kShards> shards_;
  std::atomic<bool> is_empty_{true};  // most kernels never release anything
};

}  // namespace km::cpu
