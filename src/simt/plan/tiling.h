// Regions whose packets run several at a time.
#pragma once

#include <cstdint>

#include "simt/plan/entry_masks.h"

namespace km::simt {

/// Decides how many packets of a region its code is for. A short region of loads and arithmetic
/// runs for several packets at a time: what they all load is loaded once, and what waits in one
/// does not wait in the next.
class Tiling {
 public:
  Tiling(const Plan& plan, const EntryMasks& masks) : plan_(plan), masks_(masks) {}

  /// True if packets take turns by instructions: nothing in the tile can fault, so no message needs
  /// the running packet.
  bool is_interleaved(uint32_t region) const;
  /// How many packets in a row the code of a region's loop is for. `loads_tile`: it loads what a
  /// later region works on; then a processor should see as many of its loads at once as it can,
  /// with AVX-512 those of all packets, if these are few.
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
