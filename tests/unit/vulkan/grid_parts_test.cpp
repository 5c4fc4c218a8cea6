// The cutting of grids into dispatches.
#include "backends/vulkan/module/grid_parts.h"

#include <gtest/gtest.h>

#include <set>

namespace km::vulkan::test {
namespace {

using Size = std::array<uint32_t, 3>;

/// Every block of the grid is in exactly one part, and no part is too large.
void expect_cover(const Size& grid, const Size& most, uint64_t most_blocks) {
  std::set<Size> seen;
  uint64_t row = std::min(grid[0], most[0]);
  for (const GridPart& part : cut_grid(grid, most, most_blocks)) {
    EXPECT_LE(part.blocks(), std::max(most_blocks, uint64_t{1})) << row;
    for (int i = 0; i < 3; ++i) {
      EXPECT_LE(part.count[i], most[i]);
      EXPECT_GE(part.count[i], 1u);
    }
    for (uint32_t z = 0; z < part.count[2]; ++z) {
      for (uint32_t y = 0; y < part.count[1]; ++y) {
        for (uint32_t x = 0; x < part.count[0]; ++x) {
          const Size block{part.base[0] + x, part.base[1] + y, part.base[2] + z};
          EXPECT_TRUE(seen.insert(block).second);
          for (int i = 0; i < 3; ++i) EXPECT_LT(block[i], grid[i]);
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), uint64_t{grid[0]} * grid[1] * grid[2]);
}

TEST(GridParts, SmallGridsAreOnePart) {
  const auto parts = cut_grid({7, 5, 3}, {65535, 65535, 65535}, 1 << 20);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].base, (Size{0, 0, 0}));
  EXPECT_EQ(parts[0].count, (Size{7, 5, 3}));
}

TEST(GridParts, EveryBlockIsInOnePart) {
  for (const uint64_t most_blocks : {1, 2, 7, 12, 1000}) {
    expect_cover({7, 5, 3}, {65535, 65535, 65535}, most_blocks);
    expect_cover({7, 5, 3}, {4, 2, 1}, most_blocks);
    expect_cover({1, 1, 9}, {4, 2, 2}, most_blocks);
    expect_cover({100, 1, 1}, {33, 1, 1}, most_blocks);
  }
}

TEST(GridParts, TheLargestGridsAreCut) {
  const auto parts = cut_grid({2147483647, 1, 1}, {65535, 65535, 65535}, UINT64_MAX);
  EXPECT_EQ(parts.size(), 32769u);
  EXPECT_EQ(parts.back().base[0], 32768u * 65535u);
  EXPECT_EQ(parts.back().count[0], 2147483647u - 32768u * 65535u);
}

}  // namespace
}  // namespace km::vulkan::test
