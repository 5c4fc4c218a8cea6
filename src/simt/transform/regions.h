// Barrier regions of mode a: the code between one barrier and the next, which each packet of the
// block runs to its end before the next packet starts it.
#pragma once

#include <optional>

#include "simt/analysis/shape.h"
#include "simt/kernel.h"

namespace km::simt {

struct Region {
  BlockId entry = 0;
  std::vector<BlockId> blocks;  // reachable from entry without passing a barrier
};

struct Regions {
  std::vector<Region> list;             // list[0] starts at the kernel's entry
  std::vector<uint32_t> after_barrier;  // by block: region behind the barrier that ends it
  /// Values a region finds in the block's context, because another region made them; by region.
  std::vector<std::vector<ValueId>> live_in;
};

/// One region that holds the whole kernel.
Regions whole_kernel(const Kernel& kernel);

/// Regions between barriers. Nothing: blocks that several regions share, and so are there once for
/// each, make them longer than that in all, or values are live in too many blocks.
std::optional<Regions> find_regions(const Kernel& kernel, uint64_t most_instructions);

/// 32-bit registers live at once between blocks, at most 255: what a GPU would need, roughly.
uint32_t max_live_registers(const Kernel& kernel);

/// Cheap enough to be made again in every region instead of being kept in the context.
bool is_rematerialised(const Kernel& kernel, ValueId value, unsigned depth = 0);

}  // namespace km::simt
