// UndefinedMemory against a model that keeps one flag for each byte.
#include "backends/cpu/check/undefined_memory.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace km::cpu {
namespace {

/// Memory of three parts that no program has, and what is undefined in it.
class UndefinedMemoryTest : public testing::Test {
 protected:
  static constexpr uint64_t kBegin = 0x123456789000 + 100, kBytes = 3 * 4096;

  ~UndefinedMemoryTest() override { memory_.define(kBegin, kBytes); }
  void set(uint64_t at, uint64_t size_bytes, bool is_undefined) {
    if (is_undefined) {
      memory_.add(kBegin + at, size_bytes);
    } else {
      memory_.define(kBegin + at, size_bytes);
    }
    std::fill_n(model_.begin() + static_cast<int64_t>(at), size_bytes, is_undefined);
  }
  /// The first undefined byte at or after `at`.
  uint64_t next_undefined(uint64_t at) const {
    while (at < kBytes && !model_[at]) ++at;
    return at;
  }

  UndefinedMemory& memory_ = UndefinedMemory::instance();
  std::vector<bool> model_ = std::vector<bool>(kBytes);
};

TEST_F(UndefinedMemoryTest, UnknownMemoryIsDefined) {
  EXPECT_EQ(memory_.first_undefined(kBegin, kBytes), kBytes);
  const AddressRange all{kBegin, kBytes};
  const AddressRange found = memory_.defined_around(kBegin + 5000, all, kBytes);
  EXPECT_EQ(found.begin, kBegin);
  EXPECT_EQ(found.size_bytes, kBytes);
  EXPECT_EQ(memory_.defined_around(kBegin + 5000, all, 16).begin, kBegin + 5000 - 16);
}

TEST_F(UndefinedMemoryTest, SharedMemoryOfABlock) {
  std::mt19937 random(2);
  for (int block = 0; block < 200; ++block) {
    // It begins anew with each block, whatever the one before has left undefined.
    memory_.begin_shared(kBegin, kBytes);
    std::fill(model_.begin(), model_.end(), true);
    for (int store = 0; store < 40; ++store) {
      const uint64_t at = random() % kBytes;
      const uint64_t size_bytes = std::min(kBytes - at, 1 + random() % 700);
      EXPECT_EQ(memory_.define_shared(kBegin + at, size_bytes),
                next_undefined(at) < at + size_bytes);
      std::fill_n(model_.begin() + static_cast<int64_t>(at), size_bytes, false);
      const uint64_t from = random() % kBytes;
      EXPECT_EQ(memory_.first_undefined(kBegin + from, kBytes - from), next_undefined(from) - from);
    }
  }
  EXPECT_TRUE(memory_.define_shared(kBegin, kBytes));
  EXPECT_FALSE(memory_.define_shared(kBegin, kBytes));
  EXPECT_EQ(memory_.first_undefined(kBegin, kBytes), kBytes);
}

TEST_F(UndefinedMemoryTest, AgreesWithTheModel) {
  std::mt19937 random(1);
  const auto below = [&](uint64_t most) { return random() % most; };
  for (int round = 0; round < 3000; ++round) {
    const uint64_t at = below(kBytes), most = below(8) == 0 ? kBytes : 200;
    set(at, std::min(kBytes - at, 1 + below(most)), below(2) == 0);
    const uint64_t from = below(kBytes), size_bytes = std::min(kBytes - from, 1 + below(300));
    const uint64_t next = next_undefined(from);
    EXPECT_EQ(memory_.first_undefined(kBegin + from, size_bytes),
              std::min(next - from, size_bytes));
    const uint64_t places[2] = {kBegin + from, kBegin + below(kBytes - 16)};
    const bool both = next_undefined(from) >= from + 4 &&
                      next_undefined(places[1] - kBegin) >= places[1] - kBegin + 4;
    if (from + 4 <= kBytes) {
      EXPECT_EQ(memory_.are_defined(places, 3, 4), both);
    }
    const AddressRange found = memory_.defined_around(kBegin + from, {kBegin, kBytes}, kBytes);
    if (next == from) {
      EXPECT_TRUE(found.is_empty());
      continue;
    }
    uint64_t begin = from;
    while (begin > 0 && !model_[begin - 1]) --begin;
    EXPECT_EQ(found.begin, kBegin + begin);
    EXPECT_EQ(found.size_bytes, next - begin);
  }
}

}  // namespace
}  // namespace km::cpu
