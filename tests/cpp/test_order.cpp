// Work on different streams that uses the same memory: ordered, without an event.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "support.h"

namespace {

constexpr std::uint32_t kTries = 199;
constexpr std::uint64_t kCount = 1 << 20;

using Words = std::vector<std::uint32_t>;

struct Order : km_test::Fixture {
  km::stream other{context};

  static bool all_are(const Words& words, std::uint32_t value) {
    return std::all_of(words.begin(), words.end(), [=](auto word) { return word == value; });
  }
};

TEST_F(Order, ContextsAreOrderedUnlessTheCallerTakesThatOver) {
  EXPECT_TRUE(context.is_ordered());
  EXPECT_TRUE(km::context(km::device("cpu")).is_ordered());
  EXPECT_FALSE(km::context("cpu", KM_CONTEXT_DEFAULT).is_ordered());
  EXPECT_EQ(km_test::status_of([] { km::context("cpu", 99); }), KM_ERROR_INVALID_ARGUMENT);
}

TEST_F(Order, AFillIsSeenOnAnotherStream) {
  const auto data = km::slice<std::uint32_t>::zeroed(context, kCount);
  for (std::uint32_t value = 1; value <= kTries; ++value) {
    data.fill(stream, value);
    ASSERT_TRUE(all_are(data.to_vector(other), value)) << "try " << value;
  }
}

TEST_F(Order, AWriteWaitsForReads) {
  const auto source = km::slice<std::uint32_t>::zeroed(context, kCount);
  const auto copied = km::slice<std::uint32_t>::zeroed(context, kCount);
  for (std::uint32_t value = 1; value <= kTries; ++value) {
    source.fill(stream, value);
    copied.copy_from(stream, source);
    source.fill_zero(other);
    ASSERT_TRUE(all_are(copied.to_vector(other), value)) << "try " << value;
  }
}

TEST_F(Order, KernelsWaitForTheirArguments) {
  const km::function fill_index = km_test::load(context).function("fill_index");
  const auto data = km::slice<std::uint32_t>::zeroed(context, kCount);
  const auto count = static_cast<std::uint32_t>(kCount);
  for (std::uint32_t base = 1; base <= kTries; ++base) {
    data.fill_zero(stream);
    other.launch(fill_index).grid(count / 256).block(256).args(data, base, count).submit();
    const Words seen = data.to_vector(stream);
    for (std::uint32_t i = 0; i < count; ++i) ASSERT_EQ(seen[i], base + i) << "try " << base;
  }
  // A slice that is said to be read is given like any other.
  other.launch(fill_index).grid(1).block(1).args(km::read_only(data), 77u, 1u).submit();
  other.synchronize();
  EXPECT_EQ(data.to_vector(stream)[0], 77u);
}

}  // namespace
