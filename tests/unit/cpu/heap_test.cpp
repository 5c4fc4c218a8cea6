#include "backends/cpu/memory/heap.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <map>
#include <random>
#include <vector>

namespace km::cpu::test {
namespace {

Heap::Block allocate(Heap& heap, uint64_t size_bytes) {
  Result<Heap::Block> block = heap.allocate(size_bytes);
  EXPECT_TRUE(block) << block.error().message;
  return block ? *block : Heap::Block{};
}

TEST(Heap, BlocksAreAlignedDisjointAndWritable) {
  Heap heap;
  std::mt19937_64 random(1);
  std::map<uint64_t, Heap::Block> blocks;
  for (int i = 0; i < 4000; ++i) {
    uint64_t size = 1 + random() % (uint64_t{1} << (random() % 22));
    Heap::Block block = allocate(heap, size);
    ASSERT_EQ(block.address % Heap::kAlignBytes, 0u);
    memset(reinterpret_cast<void*>(block.address), 0x5a, size);
    auto [at, fresh] = blocks.emplace(block.address, block);
    ASSERT_TRUE(fresh);
    auto next = std::next(at);
    if (next != blocks.end()) {
      ASSERT_LE(block.address + size, next->first);
    }
    if (at != blocks.begin()) {
      ASSERT_LE(std::prev(at)->first + std::prev(at)->second.size_bytes, block.address);
    }
    if (blocks.size() > 300) {
      auto victim = std::next(blocks.begin(), static_cast<long>(random() % blocks.size()));
      heap.free(victim->second);
      blocks.erase(victim);
    }
  }
  for (auto& [address, block] : blocks) heap.free(block);
  EXPECT_EQ(heap.allocated_bytes(), 0u);
}

TEST(Heap, FreedMemoryIsUsedAgainForAboutTheSameSize) {
  Heap heap;
  for (uint64_t size : {uint64_t{100}, uint64_t{70000}, uint64_t{3} << 20}) {
    Heap::Block first = allocate(heap, size);
    heap.free(first);
    Heap::Block second = allocate(heap, size);
    EXPECT_EQ(first.address, second.address) << size;
    heap.free(second);
  }
  Heap::Block large = allocate(heap, 64 << 20);
  heap.free(large);
  Heap::Block small = allocate(heap, 8 << 20);
  EXPECT_LE(small.reserved_bytes, uint64_t{9} << 20) << "a far larger range was handed out";
  heap.free(small);
  heap.trim();
  EXPECT_EQ(heap.kept_bytes(), 0u);
}

/// True if the address belongs to a mapping, accessible or not.
bool is_taken(uint64_t address) {
  return msync(reinterpret_cast<void*>(address / kPageBytes * kPageBytes), 1, MS_ASYNC) == 0;
}

// A kernel may hold a stale pointer. If the system had the addresses, they would be a stack's next.
TEST(Heap, AddressesOutliveTheirMemory) {
  Heap heap;
  std::vector<Heap::Block> blocks;
  for (int i = 0; i < 1000; ++i) blocks.push_back(allocate(heap, 64 << 10));
  for (const uint64_t size : {uint64_t{3} << 20, uint64_t{64} << 20}) {
    blocks.push_back(allocate(heap, size));
  }
  for (const Heap::Block& block : blocks) memset(reinterpret_cast<void*>(block.address), 0x5a, 100);
  for (const Heap::Block& block : blocks) heap.free(block);
  heap.trim();
  EXPECT_EQ(heap.kept_bytes(), 0u);
  EXPECT_GE(heap.retired_bytes(), uint64_t{6 * 8 + 67} << 20);
  for (const Heap::Block& block : blocks) ASSERT_TRUE(is_taken(block.address));
  EXPECT_DEATH(*reinterpret_cast<volatile uint8_t*>(blocks.back().address) = 1, "");
  const Heap::Block again = allocate(heap, 64 << 20);
  EXPECT_EQ(again.address, blocks.back().address);
  ASSERT_TRUE(again.fresh);
  EXPECT_EQ(*reinterpret_cast<uint8_t*>(again.address), 0);
  heap.free(again);
}

TEST(Heap, LargeBlocksEndAtTheirGuard) {
  Heap heap;
  Heap::Block block = allocate(heap, (1 << 20) + 1000);
  EXPECT_EQ((block.address + (1 << 20) + 1024) % kPageBytes, 0u);
  heap.free(block);
}

TEST(Heap, FreshBlocksAreZero) {
  Heap heap;
  for (uint64_t size : {uint64_t{300}, uint64_t{2} << 20}) {
    Heap::Block block = allocate(heap, size);
    ASSERT_TRUE(block.fresh);
    const auto* bytes = reinterpret_cast<const uint8_t*>(block.address);
    EXPECT_TRUE(bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
  }
}

}  // namespace
}  // namespace km::cpu::test
