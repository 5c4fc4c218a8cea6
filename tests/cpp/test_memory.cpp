// Slices, views, host memory: typed, bounded, shared and kept.
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>

#include "support.h"

namespace {

using km_test::status_of;
using Words = std::vector<std::uint32_t>;

struct Memory : km_test::Fixture {
  static Words counted(std::size_t count) {
    Words words(count);
    std::iota(words.begin(), words.end(), 0u);
    return words;
  }
};

TEST_F(Memory, RoundTrip) {
  const Words words = counted(100000);
  km::slice<std::uint32_t> slice(context, words.size());
  EXPECT_EQ(slice.size(), words.size());
  EXPECT_EQ(slice.size_bytes(), words.size() * 4);
  slice.upload(stream, words);
  EXPECT_EQ(slice.to_vector(stream), words);
}

TEST_F(Memory, PartsOfSlicesAndOfParts) {
  auto slice = km::slice<std::uint32_t>::zeroed(context, 10);
  const km::view<std::uint32_t> part = slice.part(2, 6);
  const km::view<std::uint32_t> inner = part.part(1, 2);
  EXPECT_EQ(inner.address(), slice.address() + 12);
  inner.fill(stream, 7u);
  part.upload(stream, std::array<std::uint32_t, 1>{9});
  EXPECT_EQ(slice.to_vector(stream), (Words{0, 0, 9, 7, 7, 0, 0, 0, 0, 0}));
  slice.reset();
  EXPECT_EQ(part.to_vector(stream), (Words{9, 7, 7, 0, 0, 0}));
}

TEST_F(Memory, OutOfBoundsIsRefused) {
  constexpr std::uint64_t kHuge = (std::numeric_limits<std::uint64_t>::max)();
  const km::slice<std::uint32_t> slice(context, 10);
  Words words(11);
  EXPECT_EQ(status_of([&] { slice.upload(stream, words); }), KM_ERROR_OUT_OF_BOUNDS);
  EXPECT_EQ(status_of([&] { slice.download(stream, words); }), KM_ERROR_OUT_OF_BOUNDS);
  words.resize(2);
  EXPECT_EQ(status_of([&] { slice.upload(stream, words, 9); }), KM_ERROR_OUT_OF_BOUNDS);
  // Offsets whose size in bytes does not fit 64 bits must not come round to small ones.
  EXPECT_EQ(status_of([&] { slice.upload(stream, words, kHuge / 4 + 1); }), KM_ERROR_OUT_OF_BOUNDS);
  EXPECT_EQ(status_of([&] { slice.upload(stream, words.data(), kHuge / 2 + 2); }),
            KM_ERROR_OUT_OF_BOUNDS);
  EXPECT_EQ(status_of([&] { slice.part(5, 6); }), KM_ERROR_OUT_OF_BOUNDS);
  EXPECT_EQ(status_of([&] { slice.part(kHuge, 2); }), KM_ERROR_OUT_OF_BOUNDS);
  EXPECT_EQ(status_of([&] { km::slice<std::uint32_t>(context, kHuge); }),
            KM_ERROR_INVALID_ARGUMENT);
}

TEST_F(Memory, NoElementsAreFine) {
  const km::slice<double> none(context, 0);
  EXPECT_TRUE(none.empty());
  EXPECT_TRUE(none);
  EXPECT_EQ(none.address(), 0u);
  EXPECT_EQ(none.host_pointer(), nullptr);
  EXPECT_TRUE(none.to_vector(stream).empty());
}

TEST_F(Memory, FillsAndCopies) {
  km::slice<float> floats(context, 3);
  floats.fill(stream, 1.5f);
  EXPECT_EQ(floats.to_vector(stream), (std::vector<float>{1.5f, 1.5f, 1.5f}));
  km::slice<std::int16_t> shorts(context, 3);
  shorts.fill(stream, std::int16_t{-2});
  EXPECT_EQ(shorts.to_vector(stream), (std::vector<std::int16_t>{-2, -2, -2}));
  km::slice<char> chars(context, 2);
  chars.fill(stream, 'x');
  EXPECT_EQ(chars.to_vector(stream), (std::vector<char>{'x', 'x'}));
  km::slice<double> doubles(stream, 2);
  doubles.fill_zero(stream);
  EXPECT_EQ(doubles.to_vector(stream), (std::vector<double>{0, 0}));
  auto wide = km::slice<float>::zeroed(context, 5);
  wide.copy_from(stream, floats, 2);
  EXPECT_EQ(wide.to_vector(stream), (std::vector<float>{0, 0, 1.5f, 1.5f, 1.5f}));
  EXPECT_EQ(status_of([&] { wide.copy_from(stream, floats, 3); }), KM_ERROR_OUT_OF_BOUNDS);
}

TEST_F(Memory, HostMemoryIsCopiedInStreamOrder) {
  km::host_memory<std::uint32_t> from(context, 4), to(context, 4);
  std::iota(from.begin(), from.end(), 3u);
  const km::slice<std::uint32_t> slice(context, 4);
  slice.upload(stream, from);
  slice.download(stream, to);
  stream.synchronize();
  EXPECT_EQ(Words(to.begin(), to.end()), (Words{3, 4, 5, 6}));
  EXPECT_EQ(status_of([&] { km::host_memory<int>(context, 0); }), KM_ERROR_INVALID_ARGUMENT);
}

TEST_F(Memory, AVectorBecomesASlice) {
  Words words = counted(64);
  const std::uint32_t* place = words.data();
  auto slice = km::slice<std::uint32_t>::from_host(context, std::move(words));
  EXPECT_EQ(slice.size(), 64u);
  EXPECT_EQ(slice.host_pointer(), place);
  const auto part = slice.part(60, 4);
  slice.reset();
  EXPECT_EQ(part.to_vector(stream), (Words{60, 61, 62, 63}));
  EXPECT_EQ(status_of([&] { km::slice<int>::from_host(context, std::vector<int>()); }),
            KM_ERROR_INVALID_ARGUMENT);
}

TEST_F(Memory, TheCallersMemoryIsUsedInPlace) {
  alignas(64) std::uint32_t words[16] = {};
  {
    const auto slice = km::slice<std::uint32_t>::from_host(context, words, 16);
    slice.fill(stream, 4u);
    stream.synchronize();
  }
  EXPECT_EQ(words[15], 4u);
}

TEST_F(Memory, VariablesOfAModule) {
  const km::module module = km_test::load(context);
  const auto counters = module.global<std::uint32_t>("counters");
  EXPECT_EQ(counters.to_vector(stream), (Words{0, 0, 0, 0}));
  counters.part(1, 2).fill(stream, 8u);
  EXPECT_EQ(counters.to_vector(stream), (Words{0, 8, 8, 0}));
  struct Wide {
    std::uint64_t a, b, c;
  };
  const km::error error = km_test::error_of([&] { module.global<Wide>("counters"); });
  EXPECT_EQ(error.status(), KM_ERROR_INVALID_ARGUMENT);
  EXPECT_TRUE(km_test::contains(error.what(), "one of 16, the type given one of 24"))
      << error.what();
  EXPECT_EQ(status_of([&] { module.global<int>("none"); }), KM_ERROR_NOT_FOUND);
}

TEST_F(Memory, GivenBackInStreamOrder) {
  km::slice<std::uint32_t> slice(stream, 16);
  slice.fill(stream, 1u);
  slice.reset_on(stream);
  EXPECT_FALSE(slice);
  km::slice<std::uint32_t> kept(context, 1);
  EXPECT_EQ(status_of([&] { kept.reset_on(km::stream()); }), KM_ERROR_INVALID_HANDLE);
  EXPECT_TRUE(kept);
}

}  // namespace
