// Barrier regions of mode a: the code between one barrier and the next, which each packet of the
// block completes before the next packet starts it.
#pragma once

#include <optional>

#include "simt/analysis/shape.h"
#include "simt/kernel/kernel.h"

namespace km::simt {

struct Region {
  BlockId entry = 0;
  std::vector<BlockId> blocks;  // reachable from entry without passing a barrier
};

struct Regions {
  std::vector<Region> list;             // list[0] starts at the kernel's entry
  std::vector<uint32_t> after_barrier;  // by block: the region after the barrier at its end
  /// The live-in values of each region, which it finds in the block's context because another
  /// region computes them.
  std::vector<std::vector<ValueId>> live_in;
};

/// One region that holds the whole kernel.
Regions whole_kernel(const Kernel& kernel);

/// The regions between barriers. Nothing if the blocks that several regions share, which are
/// duplicated, exceed `most_instructions`, or if values are live in too many blocks.
std::optional<Regions> find_regions(const Kernel& kernel, uint64_t most_instructions);

/// The maximum number of 32-bit registers live at the same time between blocks, at most 255: an
/// estimate of a GPU's register count.
uint32_t max_live_registers(const Kernel& kernel);

/// True if the value is cheap enough to be recomputed in every region instead of being kept in the
/// context.
bool is_rematerialised(const Kernel& kernel, ValueId value, unsigned depth = 0);

}  // namespace km::simt
