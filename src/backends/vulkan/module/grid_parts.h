// The cutting of a grid into dispatches.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace km::vulkan {

/// Blocks of a grid: `count` from `base` on.
struct GridPart {
  std::array<uint32_t, 3> base{}, count{};
  uint64_t blocks() const { return uint64_t{count[0]} * count[1] * count[2]; }
};

/// Cuts a grid into parts of at most `most` blocks along each axis, and of at most `most_blocks` in
/// all unless a row has more. The parts cover the grid in order, without overlaps.
std::vector<GridPart> cut_grid(const std::array<uint32_t, 3>& grid,
                               const std::array<uint32_t, 3>& most, uint64_t most_blocks);

}  // namespace km::vulkan
