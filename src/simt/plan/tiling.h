// Tiling: regions that execute several packets at a time.
#pragma once

#include <cstdint>

#include "simt/plan/entry_masks.h"

namespace km::simt {

/// Decides the number of packets per iteration of a region's code. A short region of loads and
/// arithmetic runs for several packets at a time: common loads are shared, and the latency of one
/// packet is hidden by the next.
class Tiling {
 public:
  Tiling(const Plan& plan, const EntryMasks& masks) : plan_(plan), masks_(masks) {}

  /// True if the packets' instructions are interleaved: nothing in the tile can fault, so no
  /// message needs the number of the running packet.
  bool is_interleaved(uint32_t region) const;
  /// The number of consecutive packets that the code of a region's loop handles. `loads_tile`: the
  /// region loads the data of a later one; then the processor should have as many of its loads in
  /// flight as possible, with AVX-512 those of all packets if these are few.
  uint32_t packets_in_row(uint32_t region, bool loads_tile) const;

 private:
  bool is_tiled(uint32_t region) const;
  bool is_within_variables(const Inst& inst, BlockId block) const;
  bool is_surely_aligned(const Inst& inst, BlockId block) const;
  uint32_t tile_packets(uint32_t region) const;

  const Plan& plan_;
  const EntryMasks& masks_;
};

}  // namespace km::simt
