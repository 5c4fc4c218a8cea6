// sectors_of() and wavefronts_of(): known patterns, and random ones against plain models.
#include "backends/cpu/counters/access_pattern.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <random>
#include <set>

namespace km::cpu {
namespace {

constexpr uint32_t kLanes = 32, kAll = UINT32_MAX;
constexpr uint64_t kBase = 0x7f0000001000;

class AccessPatternTest : public testing::Test {
 protected:
  /// Lane i accesses `size_bytes` at `first_byte + i * stride_bytes`.
  WarpRequest strided(uint32_t size_bytes, uint64_t stride_bytes, uint64_t first_byte = 0,
                      uint32_t lanes = kAll) {
    for (uint32_t i = 0; i < kLanes; ++i) addresses_[i] = kBase + first_byte + i * stride_bytes;
    return {addresses_.data(), lanes, size_bytes};
  }
  uint32_t sectors(const WarpRequest& request) { return sectors_of(request).taken; }
  uint32_t conflicts(const WarpRequest& request, bool excludes = false) {
    const RequestCost cost = wavefronts_of(request, excludes);
    return cost.taken - cost.ideal;
  }

  std::array<uint64_t, kLanes> addresses_{};
};

TEST_F(AccessPatternTest, SectorsOfStrides) {
  EXPECT_EQ(sectors(strided(4, 4)), 4U);
  EXPECT_EQ(sectors(strided(4, 8)), 8U);
  EXPECT_EQ(sectors(strided(4, 128)), 32U);
  EXPECT_EQ(sectors(strided(4, 4, 4)), 5U);
  EXPECT_EQ(sectors(strided(4, 0)), 1U);
  EXPECT_EQ(sectors(strided(1, 1)), 1U);
  EXPECT_EQ(sectors(strided(8, 8)), 8U);
  EXPECT_EQ(sectors(strided(16, 16)), 16U);
  EXPECT_EQ(sectors(strided(32, 32)), 32U);
  EXPECT_EQ(sectors(strided(4, 4, 0, 0xffff)), 2U);
  EXPECT_EQ(sectors(strided(4, 4, 0, 1)), 1U);
}

TEST_F(AccessPatternTest, IdealSectorsHoldTheSameData) {
  EXPECT_EQ(sectors_of(strided(4, 128)).ideal, 4U);
  EXPECT_EQ(sectors_of(strided(4, 4, 4)).ideal, 4U);
  EXPECT_EQ(sectors_of(strided(4, 0)).ideal, 1U);
  EXPECT_EQ(sectors_of(strided(4, 128, 0, 0x1ff)).ideal, 2U);
}

TEST_F(AccessPatternTest, BankConflictsOfStrides) {
  EXPECT_EQ(conflicts(strided(4, 4)), 0U);
  EXPECT_EQ(conflicts(strided(4, 8)), 1U);
  EXPECT_EQ(conflicts(strided(4, 128)), 31U);
  EXPECT_EQ(conflicts(strided(4, 132)), 0U);
  EXPECT_EQ(conflicts(strided(4, 0)), 0U);
  EXPECT_EQ(conflicts(strided(1, 1)), 0U);
  EXPECT_EQ(conflicts(strided(2, 128)), 31U);
  EXPECT_EQ(conflicts(strided(4, 128, 0, 0xf)), 3U);
}

TEST_F(AccessPatternTest, WideAccessesTakeSeveralWavefronts) {
  EXPECT_EQ(wavefronts_of(strided(8, 8), false).taken, 2U);
  EXPECT_EQ(conflicts(strided(8, 8)), 0U);
  EXPECT_EQ(conflicts(strided(8, 16)), 2U);  // two lanes of a bank in each half
  EXPECT_EQ(wavefronts_of(strided(16, 16), false).taken, 4U);
  EXPECT_EQ(conflicts(strided(16, 16)), 0U);
  EXPECT_EQ(conflicts(strided(16, 32)), 4U);
  EXPECT_EQ(conflicts(strided(16, 128)), 28U);
  EXPECT_EQ(wavefronts_of(strided(16, 16, 0, 0xff), false).taken, 1U);
}

TEST_F(AccessPatternTest, AtomicsDoNotShareWords) {
  EXPECT_EQ(conflicts(strided(4, 0), true), 31U);
  EXPECT_EQ(conflicts(strided(4, 4), true), 0U);
  EXPECT_EQ(conflicts(strided(8, 0), true), 30U);
}

TEST_F(AccessPatternTest, RandomRequestsAgainstModels) {
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    const uint32_t size_bytes = 1U << (random() % 5), spread = 1U << (random() % 12);
    const uint32_t lanes = round % 3 == 0 ? kAll : random() | 1U << (random() % 32);
    for (uint64_t& address : addresses_) address = kBase + uint64_t{random() % spread} * size_bytes;
    const WarpRequest request{addresses_.data(), lanes, size_bytes};
    std::set<uint64_t> touched, elements;
    std::map<uint32_t, std::map<uint64_t, std::set<uint64_t>>> words;  // by group and bank
    const uint32_t in_group = std::min(32U, 128 / size_bytes);
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      if ((lanes >> lane & 1) == 0) continue;
      touched.insert(addresses_[lane] / 32);
      elements.insert(addresses_[lane]);
      for (uint64_t byte = 0; byte < size_bytes; ++byte) {
        const uint64_t word = (addresses_[lane] + byte) / 4;
        words[lane / in_group][word % 32].insert(word);
      }
    }
    size_t wavefronts = 0;
    for (const auto& [group, banks] : words) {
      size_t most = 0;
      for (const auto& [bank, all] : banks) most = std::max(most, all.size());
      wavefronts += most;
    }
    EXPECT_EQ(sectors_of(request).taken, touched.size());
    EXPECT_EQ(sectors_of(request).ideal, (elements.size() * size_bytes + 31) / 32);
    EXPECT_EQ(wavefronts_of(request, false).taken, wavefronts);
    EXPECT_EQ(wavefronts_of(request, false).ideal, words.size());
  }
}

}  // namespace
}  // namespace km::cpu
