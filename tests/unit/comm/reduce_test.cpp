// Results that bypass the caches.
#include "comm/operation/reduce.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/memory/nontemporal_copy.h"

namespace km::comm {
namespace {

TEST(Reduce, GivesTheSamePastTheCaches) {
  constexpr uint64_t kMost = 20000;
  std::vector<uint8_t> a(kMost), b(kMost);
  for (uint64_t i = 0; i < kMost; ++i) {
    a[i] = static_cast<uint8_t>(i * 7 % 97);
    b[i] = static_cast<uint8_t>(i * 13 % 89);
  }
  const Source sources[] = {{a.data(), nullptr}, {b.data(), nullptr}};
  for (uint32_t type = 0; type < kTypeCount; ++type) {
    for (const uint64_t first : {0, 1, 5, 8}) {
      for (const uint64_t count : {0, 1, 7, 64, 1200}) {
        const std::vector<uint8_t> before(kMost, 0xEE);
        std::vector<uint8_t> by_caches = before, past = before;
        const Destination destinations[] = {{by_caches.data()}, {past.data(), true}};
        reduce(static_cast<Type>(type), Reduction::kSum, sources, destinations, first, count);
        EXPECT_EQ(past, by_caches) << "type " << type << ", " << count << " from " << first;
        EXPECT_EQ(past == before, count == 0);
      }
    }
  }
}

TEST(CopyNontemporal, WritesItsBytesOnly) {
  constexpr uint64_t kMost = 512;
  std::vector<uint8_t> from(kMost);
  for (uint64_t i = 0; i < kMost; ++i) from[i] = static_cast<uint8_t>(i + 1);
  for (uint64_t offset = 0; offset < 70; ++offset) {
    for (const uint64_t size : {0, 1, 63, 64, 65, 128, 200}) {
      std::vector<uint8_t> to(kMost), expected(kMost);
      copy_nontemporal(to.data() + offset, from.data() + 3, size);
      std::memcpy(expected.data() + offset, from.data() + 3, size);
      EXPECT_EQ(to, expected) << size << " at " << offset;
    }
  }
}

}  // namespace
}  // namespace km::comm
