#include "backends/vulkan/module/grid_parts.h"

#include <algorithm>

namespace km::vulkan {

std::vector<GridPart> cut_grid(const std::array<uint32_t, 3>& grid,
                               const std::array<uint32_t, 3>& most, uint64_t most_blocks) {
  std::array<uint32_t, 3> unit{};
  uint64_t left = std::max<uint64_t>(most_blocks, 1);  // of the blocks of one part
  for (int i = 0; i < 3; ++i) {
    unit[i] = static_cast<uint32_t>(std::min<uint64_t>({grid[i], most[i], left}));
    left = std::max<uint64_t>(left / unit[i], 1);
  }
  std::vector<GridPart> parts;
  for (uint64_t z = 0; z < grid[2]; z += unit[2]) {
    for (uint64_t y = 0; y < grid[1]; y += unit[1]) {
      for (uint64_t x = 0; x < grid[0]; x += unit[0]) {
        GridPart part;
        part.base = {static_cast<uint32_t>(x), static_cast<uint32_t>(y), static_cast<uint32_t>(z)};
        for (int i = 0; i < 3; ++i) part.count[i] = std::min(unit[i], grid[i] - part.base[i]);
        parts.push_back(part);
      }
    }
  }
  return parts;
}

}  // namespace km::vulkan
