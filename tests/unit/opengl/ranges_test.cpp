// The parts of an arena.
#include <gtest/gtest.h>

#include <vector>

#include "backends/opengl/device/arena.h"

namespace km::opengl::test {
namespace {

TEST(Ranges, AreMultiplesOf256AndApart) {
  Ranges ranges(4096);
  EXPECT_EQ(ranges.take(1), 0u);
  EXPECT_EQ(ranges.take(257), 256u);
  EXPECT_EQ(ranges.take(256), 768u);
}

TEST(Ranges, EndWithTheArena) {
  Ranges ranges(1024);
  EXPECT_FALSE(ranges.take(1025));
  EXPECT_FALSE(ranges.take(UINT64_MAX));
  EXPECT_EQ(ranges.take(1024), 0u);
  EXPECT_FALSE(ranges.take(1));
  ranges.give_back(0);
  EXPECT_EQ(ranges.take(1024), 0u);
}

TEST(Ranges, NeighboursBecomeOneInAnyOrder) {
  for (const std::vector<unsigned>& order :
       std::vector<std::vector<unsigned>>{{0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}}) {
    Ranges ranges(768);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(ranges.take(256));
    for (const unsigned place : order) ranges.give_back(uint64_t{256} * place);
    EXPECT_EQ(ranges.take(768), 0u);
  }
}

}  // namespace
}  // namespace km::opengl::test
