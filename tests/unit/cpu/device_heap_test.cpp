#include "backends/cpu/memory/device_heap.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "backends/cpu/memory/allocations.h"

namespace km::cpu::test {
namespace {

constexpr uint64_t kMiB = 1 << 20;

class DeviceHeapTest : public testing::Test {
 protected:
  Allocations allocations_;
  DeviceHeap heap_{&allocations_};
};

char* memory_at(uint64_t address) { return reinterpret_cast<char*>(address); }

TEST_F(DeviceHeapTest, BlocksAreAlignedDisjointAndKnown) {
  std::mt19937_64 random(1);
  std::map<uint64_t, uint64_t> blocks;
  heap_.set_limit(64 * kMiB);
  for (int i = 0; i < 5000; ++i) {
    const uint64_t size_bytes = 1 + random() % (uint64_t{1} << (random() % 18));
    const uint64_t address = heap_.allocate(size_bytes);
    ASSERT_NE(address, 0U);
    ASSERT_EQ(address % 16, 0U);
    ASSERT_EQ(allocations_.find(address, size_bytes).size_bytes, size_bytes);
    std::memset(memory_at(address), i & 0xFF, size_bytes);
    const auto at = blocks.emplace(address, size_bytes).first;
    if (std::next(at) != blocks.end()) {
      ASSERT_LE(address + size_bytes, std::next(at)->first);
    }
    if (at != blocks.begin()) {
      ASSERT_LE(std::prev(at)->first + std::prev(at)->second, address);
    }
    if (blocks.size() <= 200) continue;
    const auto victim = std::next(blocks.begin(), static_cast<long>(random() % blocks.size()));
    ASSERT_TRUE(heap_.release(victim->first));
    ASSERT_TRUE(allocations_.find(victim->first, victim->second).is_empty());
    blocks.erase(victim);
  }
}

TEST_F(DeviceHeapTest, ReleasesOnlyWhatIsAllocated) {
  const uint64_t address = heap_.allocate(100);
  EXPECT_TRUE(heap_.release(0));
  EXPECT_FALSE(heap_.release(address + 16));
  EXPECT_FALSE(heap_.release(8));
  EXPECT_TRUE(heap_.release(address));
  EXPECT_FALSE(heap_.release(address));
}

TEST_F(DeviceHeapTest, HasALimit) {
  EXPECT_EQ(heap_.allocate(0), 0U);
  EXPECT_EQ(heap_.allocate(UINT64_MAX), 0U);
  EXPECT_EQ(heap_.allocate(DeviceHeap::kDefaultBytes + 1), 0U);
  const uint64_t all = heap_.allocate(DeviceHeap::kDefaultBytes);
  EXPECT_NE(all, 0U);
  EXPECT_EQ(heap_.allocate(1), 0U);
  EXPECT_TRUE(heap_.release(all));
  EXPECT_NE(heap_.allocate(1), 0U);
  heap_.set_limit(20 * kMiB);
  EXPECT_NE(heap_.allocate(12 * kMiB), 0U);
}

TEST_F(DeviceHeapTest, FreeBlocksSideBySideBecomeOne) {
  std::vector<uint64_t> blocks;
  for (uint64_t address = 0; (address = heap_.allocate(64 << 10)) != 0;) blocks.push_back(address);
  EXPECT_EQ(blocks.size(), DeviceHeap::kDefaultBytes >> 16);
  for (size_t i = 0; i < blocks.size(); i += 2) EXPECT_TRUE(heap_.release(blocks[i]));
  EXPECT_EQ(heap_.allocate(128 << 10), 0U);  // none lie side by side
  for (size_t i = 1; i < blocks.size(); i += 2) EXPECT_TRUE(heap_.release(blocks[i]));
  const uint64_t all = heap_.allocate(DeviceHeap::kDefaultBytes);
  ASSERT_NE(all, 0U);
  std::memset(memory_at(all), 1, DeviceHeap::kDefaultBytes);
}

TEST_F(DeviceHeapTest, StartsFromNothingAfterAReset) {
  const uint64_t before = heap_.allocate(kMiB);
  heap_.clear();
  EXPECT_TRUE(allocations_.find(before, 1).is_empty());
  EXPECT_FALSE(heap_.release(before));
  EXPECT_NE(heap_.allocate(DeviceHeap::kDefaultBytes), 0U);
}

}  // namespace
}  // namespace km::cpu::test
