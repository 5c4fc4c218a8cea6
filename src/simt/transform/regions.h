// Barrier regions of mode a: the code between one barrier and the next, which each packet of the
// block runs to its end before the next packet starts it.
#pragma once

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

/// `split`: barriers part regions; otherwise one region holds the whole kernel.
Regions find_regions(const Kernel& kernel, bool split);

/// Instructions that find_regions(kernel, true) would emit, copies counted.
uint64_t emitted_instructions(const Kernel& kernel, const Regions& regions);

/// 32-bit registers live at once between blocks, at most 255: what a GPU would need, roughly.
uint32_t max_live_registers(const Kernel& kernel);

/// Cheap enough to be made again in every region instead of being kept in the context.
bool is_rematerialised(const Kernel& kernel, ValueId value, unsigned depth = 0);

}  // namespace km::simt
