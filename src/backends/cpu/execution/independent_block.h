// Mode c: blocks whose warps wait for each other, for other blocks, or have lanes that wait for
// each other.
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

  /// RuntimeTable::independent_barrier.
  void arrive(simt::IndependentWarp* warp, uint32_t lanes, uint32_t id, uint32_t thread_count,
              uint32_t predicates, bool waits, uint32_t state, uint64_t pc);

 private:
  struct Barrier {
    uint32_t arrived = 0;   // threads
    uint32_t expected = 0;  // threads, 0: all of the block
    /// Lanes that the last warp lacks, once some of it have arrived: a number of threads counts
    /// warps as whole ones (PTX ISA, barrier).
    uint32_t missing = 0;
    uint32_t predicates = 0;
    std::array<uint32_t, kMaxWarps> waiting{};  // lanes, by warp
    uint64_t pc = 0;                            // where the last of them came to it
  };

  void start() override;
  simt::IndependentWarp& warp(uint32_t index) const;
  bool is_complete(const Barrier& barrier, uint32_t exited) const;
  void release(Barrier& barrier);
  bool complete(Barrier& barrier);
  bool release_complete(bool count_exited);
  /// The barrier at which lanes of a warp wait; null: none.
  const Barrier* barrier_of(uint32_t warp) const;

  uint32_t exited_ = 0;
  uint32_t unfinished_ = 0;  // a bit per warp
  bool released_ = false;    // a barrier, in this turn
  std::array<Barrier, kMaxBarriers> barriers_{};
};

}  // namespace km::cpu
