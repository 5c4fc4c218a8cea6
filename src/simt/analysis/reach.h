// Reachability of blocks along selected edges.
#pragma once

#include <cstdint>
#include <vector>

#include "simt/kernel/kernel.h"

namespace km::simt {

using BlockSet = std::vector<uint8_t>;

/// The blocks of `from` and all that are reached from them. `next_of(block)` returns a block's
/// neighbours, and `goes(block, neighbour)` selects edges.
template <typename Next, typename Goes>
BlockSet reached(const BlockSet& from, Next next_of, Goes goes) {
  BlockSet result = from;
  std::vector<BlockId> stack;
  for (BlockId b = 0; b < from.size(); ++b) {
    if (from[b]) stack.push_back(b);
  }
  while (!stack.empty()) {
    const BlockId block = stack.back();
    stack.pop_back();
    for (BlockId next : next_of(block)) {
      if (result[next] || !goes(block, next)) continue;
      result[next] = 1;
      stack.push_back(next);
    }
  }
  return result;
}

inline auto preds_in(const Kernel& kernel) {
  return [&kernel](BlockId block) -> const std::vector<BlockId>& {
    return kernel.blocks[block].preds;
  };
}

inline auto succs_in(const Kernel& kernel) {
  return [&kernel](BlockId block) -> const std::vector<BlockId>& {
    return kernel.blocks[block].succs;
  };
}

/// The blocks of `targets` and all blocks from which these are reached.
inline BlockSet reaching(const Kernel& kernel, const BlockSet& targets) {
  return reached(targets, preds_in(kernel), [](BlockId, BlockId) { return true; });
}

}  // namespace km::simt
