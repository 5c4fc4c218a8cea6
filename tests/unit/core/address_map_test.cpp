#include "core/context/address_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <thread>
#include <vector>

namespace km {
namespace {

TEST(AddressMap, FindsByAnyAddressInside) {
  AddressMap map;
  EXPECT_FALSE(map.find(0));
  EXPECT_FALSE(map.find(~uint64_t{0}));
  EXPECT_FALSE(map.insert({100, 200, 1}));
  EXPECT_FALSE(map.insert({200, 300, 2}));
  EXPECT_FALSE(map.find(99));
  EXPECT_EQ(map.find(100)->id, 1u);
  EXPECT_EQ(map.find(199)->id, 1u);
  EXPECT_EQ(map.find(200)->id, 2u);
  EXPECT_FALSE(map.find(300));
  EXPECT_EQ(map.find_at_or_before(1000)->id, 2u);
}

TEST(AddressMap, OverlapsAreRefusedWithWhatIsInTheWay) {
  AddressMap map;
  EXPECT_FALSE(map.insert({100, 200, 1}));
  for (const AddressRange& bad :
       {AddressRange{100, 200, 2}, AddressRange{50, 101, 2}, AddressRange{199, 250, 2},
        AddressRange{120, 130, 2}, AddressRange{50, 250, 2}}) {
    const std::optional<AddressRange> other = map.insert(bad);
    ASSERT_TRUE(other) << bad.begin;
    EXPECT_EQ(other->id, 1u);
  }
  EXPECT_FALSE(map.insert({50, 100, 2}));
  EXPECT_FALSE(map.insert({200, 201, 3}));
}

TEST(AddressMap, EraseTakesOnlyItsOwn) {
  AddressMap map;
  EXPECT_FALSE(map.insert({100, 200, 1}));
  map.erase(100, 2);
  map.erase(101, 1);
  EXPECT_TRUE(map.find(150));
  map.erase(100, 1);
  EXPECT_FALSE(map.find(150));
  EXPECT_FALSE(map.insert({100, 200, 3}));
  map.clear();
  EXPECT_FALSE(map.find(150));
  map.erase(100, 3);
  EXPECT_FALSE(map.insert({90, 200, 4}));
}

TEST(AddressMap, AgreesWithAModel) {
  AddressMap map;
  std::map<uint64_t, uint64_t> model;  // begin -> end
  std::mt19937_64 random(7);
  for (int i = 0; i < 40000; ++i) {
    const uint64_t begin = random() % 4096 * 16;
    const uint64_t end = begin + 16 + random() % 4 * 16;
    const auto after = model.lower_bound(begin);
    const bool overlaps = (after != model.end() && after->first < end) ||
                          (after != model.begin() && std::prev(after)->second > begin);
    if (random() % 2 == 0) {
      ASSERT_EQ(map.insert({begin, end, begin + 1}).has_value(), overlaps);
      if (!overlaps) model[begin] = end;
    } else if (model.erase(begin) != 0) {
      map.erase(begin, begin + 1);
    }
    const uint64_t asked = random() % (4096 * 16);
    const auto next = model.upper_bound(asked);
    const bool inside = next != model.begin() && std::prev(next)->second > asked;
    const std::optional<AddressRange> found = map.find(asked);
    ASSERT_EQ(found.has_value(), inside);
    ASSERT_EQ(inside ? found->begin : 0, inside ? std::prev(next)->first : 0);
  }
}

TEST(AddressMap, ReadersNeverSeeHalfAChange) {
  AddressMap map;
  // These stay; those in between come and go.
  for (uint64_t i = 0; i < 64; ++i) EXPECT_FALSE(map.insert({i * 100, i * 100 + 50, i + 1}));
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&, t] {
      std::mt19937_64 random(static_cast<uint64_t>(t));
      while (!done.load()) {
        const uint64_t i = random() % 64;
        const std::optional<AddressRange> fixed = map.find(i * 100 + random() % 50);
        if (!fixed || fixed->id != i + 1) ++wrong;
        const std::optional<AddressRange> passing = map.find(i * 100 + 75);
        if (passing && passing->id != 1000 + i) ++wrong;
      }
    });
  }
  std::mt19937_64 random(99);
  for (int round = 0; round < 20000; ++round) {
    const uint64_t i = random() % 64;
    const uint64_t begin = i * 100 + 60;
    if (!map.find(begin)) {
      EXPECT_FALSE(map.insert({begin, begin + 30, 1000 + i}));
    } else {
      map.erase(begin, 1000 + i);
    }
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace km
