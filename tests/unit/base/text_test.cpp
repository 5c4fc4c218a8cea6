#include "base/text.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/hash.h"
#include "base/result.h"

namespace km {
namespace {

TEST(Text, EditDistance) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("same", "same"), 0u);
}

TEST(Text, NearestWordIsNearEnoughOrNone) {
  const std::vector<std::string_view> words = {"blur_rows", "blur_columns", "sobel"};
  EXPECT_EQ(nearest_word("blur_row", words), "blur_rows");
  EXPECT_EQ(nearest_word("soble", words), "");  // two of five letters differ
  EXPECT_EQ(nearest_word("sobe", words), "sobel");
  EXPECT_EQ(nearest_word("histogram", words), "");
  EXPECT_EQ(nearest_word(std::string(100000, 'x'), words), "");
}

TEST(Text, Hex) {
  EXPECT_EQ(hex(0), "0x0");
  EXPECT_EQ(hex(0x7f00deadbeef), "0x7f00deadbeef");
}

TEST(Hash, IsTheOneThatIsDocumented) {
  // The published values of XXH3 for the empty input.
  EXPECT_EQ(hash64(""), 0x2D06800538D394C2u);
  EXPECT_EQ(hash128("").text(), "99aa06d3014798d86001c324468d497f");
  EXPECT_NE(hash64("a"), hash64("b"));
  EXPECT_EQ(hash128("abc"), hash128(std::string("abc").data(), 3));
}

TEST(Result, LongMessagesAreKept) {
  const std::string word(5000, 'w');
  const Error error = make_error(KM_ERROR_IO, "%s %d", word.c_str(), 7);
  EXPECT_EQ(error.message, word + " 7");
  EXPECT_EQ(error.status, KM_ERROR_IO);
}

Result<int> half(int value) {
  if (value % 2 != 0) return make_error(KM_ERROR_INVALID_ARGUMENT, "%d is odd", value);
  return value / 2;
}

Result<int> quarter(int value) {
  KM_ASSIGN(const int first, half(value));
  KM_TRY(half(first));
  return half(first);
}

TEST(Result, MacrosPassErrorsOn) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(7).error().message, "7 is odd");
  EXPECT_EQ(quarter(6).error().message, "3 is odd");
}

}  // namespace
}  // namespace km
