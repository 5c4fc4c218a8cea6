// The look-up from addresses to buffers.
#include "backends/vulkan/device/buffer_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace km::vulkan::test {
namespace {

VkBuffer buffer(uint64_t number) { return reinterpret_cast<VkBuffer>(number); }

TEST(BufferMap, FindsThePlaceOfAnAddress) {
  BufferMap map;
  char bytes[200];
  ASSERT_TRUE(map.add(1000, 100, {buffer(1), 8, bytes}));
  ASSERT_TRUE(map.add(1100, 50, {buffer(2), 0, nullptr}));
  const auto place = map.find(1040, 60);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->buffer, buffer(1));
  EXPECT_EQ(place->offset_bytes, 48u);
  EXPECT_EQ(place->mapped, bytes + 40);
  EXPECT_EQ(map.find(1100, 50)->buffer, buffer(2));
  EXPECT_EQ(map.find(1120, 1)->mapped, nullptr);
}

TEST(BufferMap, FindsNothingAcrossAnEnd) {
  BufferMap map;
  ASSERT_TRUE(map.add(1000, 100, {buffer(1), 0, nullptr}));
  ASSERT_TRUE(map.add(1100, 50, {buffer(2), 0, nullptr}));
  for (const auto& [address, size] :
       {std::pair<uint64_t, uint64_t>{999, 1}, {1040, 61}, {1150, 1}, {1000, UINT64_MAX}, {0, 1}}) {
    EXPECT_FALSE(map.find(address, size)) << address << "+" << size;
  }
  EXPECT_TRUE(map.find(1100, 0));
}

TEST(BufferMap, RefusesOverlaps) {
  BufferMap map;
  ASSERT_TRUE(map.add(1000, 100, {buffer(1), 0, nullptr}));
  for (const auto& [begin, size] :
       {std::pair<uint64_t, uint64_t>{1000, 100}, {1099, 1}, {900, 101}, {900, 1000}}) {
    EXPECT_FALSE(map.add(begin, size, {buffer(2), 0, nullptr})) << begin << "+" << size;
  }
  EXPECT_TRUE(map.add(900, 100, {buffer(2), 0, nullptr}));
  map.remove(1000);
  EXPECT_FALSE(map.find(1000, 1));
  EXPECT_TRUE(map.add(1000, 200, {buffer(3), 0, nullptr}));
}

TEST(BufferMap, TellsItsRangesAndWhenTheyChange) {
  BufferMap map;
  uint64_t before = 0, after = 0;
  EXPECT_TRUE(map.ranges(&before).empty());
  map.add(500, 8, {buffer(2), 0, nullptr});
  map.add(100, 4, {buffer(1), 0, nullptr});
  const auto ranges = map.ranges(&after);
  EXPECT_NE(before, after);
  EXPECT_EQ(map.version(), after);
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].begin, 100u);
  EXPECT_EQ(ranges[0].end, 104u);
  EXPECT_EQ(ranges[1].begin, 500u);
}

}  // namespace
}  // namespace km::vulkan::test
