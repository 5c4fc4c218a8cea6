// Mode c: blocks whose warps wait for each other or for other blocks, or whose lanes wait for each
// other.
#pragma once

#include <array>
#include <cstdint>

#include "backends/cpu/execution/resident_block.h"
#include "simt/abi.h"

namespace km::cpu {

class IndependentBlock : public ResidentBlock {
 public:
  Turn run(const simt::LaunchRecord* record, const CodeUnit& unit) override;

  Place place() const override;

  /// Implements RuntimeTable::independent_barrier.
  void arrive(simt::IndependentWarp* warp, uint32_t lanes, uint32_t id, uint32_t thread_count,
              uint32_t predicates, bool waits, uint32_t state, uint64_t pc);

 private:
  struct Barrier {
    uint32_t arrived = 0;   // threads
    uint32_t expected = 0;  // threads, 0: all of the block
    /// Lanes of the last warp that have not arrived after others of it have: a thread count
    /// includes whole warps only (PTX ISA, barrier).
    uint32_t missing = 0;
    uint32_t predicates = 0;
    std::array<uint32_t, kMaxWarps> waiting{};  // lanes of each warp
    uint64_t pc = 0;                            // where the last arriving thread waits
  };

  void start() override;
  simt::IndependentWarp& warp(uint32_t index) const;
  uint32_t take_warp(uint32_t* left);
  bool is_complete(const Barrier& barrier, uint32_t exited) const;
  void release(Barrier& barrier);
  bool complete(Barrier& barrier);
  bool release_complete(bool count_exited);
  /// The barrier at which lanes of a warp wait; null if they wait at none.
  const Barrier* barrier_of(uint32_t warp) const;

  uint32_t exited_ = 0;
  uint32_t unfinished_ = 0;  // a bit for each warp
  bool released_ = false;    // a barrier was released in this turn
  std::array<Barrier, kMaxBarriers> barriers_{};
};

}  // namespace km::cpu
