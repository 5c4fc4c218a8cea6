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
  EXPECT_EQ(edit_distance("gird", "grid"), 1u);
  EXPECT_EQ(edit_distance("abcd", "badc"), 2u);
}

TEST(Text, Split) {
  using Parts = std::vector<std::string>;
  EXPECT_EQ(split("", ','), Parts{""});
  EXPECT_EQ(split("one", ','), Parts{"one"});
  EXPECT_EQ(split(",a,,b,", ','), (Parts{"", "a", "", "b", ""}));
}

TEST(Text, NearestWordIsNearEnoughOrNone) {
  const std::vector<std::string_view> words = {"blur_rows", "blur_columns", "sobel"};
  EXPECT_EQ(nearest_word("blur_row", words), "blur_rows");
  EXPECT_EQ(nearest_word("soble", words), "sobel");
  EXPECT_EQ(nearest_word("sabre", words), "");  // three of five letters differ
  EXPECT_EQ(nearest_word("sobe", words), "sobel");
  EXPECT_EQ(nearest_word("histogram", words), "");
  EXPECT_EQ(nearest_word(std::string(100000, 'x'), words), "");
}

TEST(Text, SuggestionsAreSentences) {
  const std::vector<std::string_view> words = {"blur_rows", "sobel"};
  EXPECT_EQ(suggestion("sobl", words), " Did you mean 'sobel'?");
  EXPECT_EQ(suggestion("histogram", words), "");
}

TEST(Text, Counts) {
  EXPECT_EQ(counted(0, "argument"), "0 arguments");
  EXPECT_EQ(counted(1, "argument"), "1 argument");
  EXPECT_EQ(counted(2, "argument"), "2 arguments");
}

TEST(Text, NamesOfKernelsAsInTheSource) {
  EXPECT_EQ(source_name("noop"), "noop");
  EXPECT_EQ(source_name("i"), "i");  // a mangled type, but no mangled name
  EXPECT_EQ(source_name("_Z5saxpyifPKfPf"), "saxpy");
  EXPECT_EQ(source_name("_ZN5image4blurEv"), "image::blur");
  EXPECT_EQ(source_name("_Z5scaleIfEvPT_j"), "scale<float>");
  EXPECT_EQ(source_name("_ZN12_GLOBAL__N_14blurEPf"), "(anonymous namespace)::blur");
  EXPECT_EQ(source_name("_Z5applyIPFffEEvPfT_"), "apply<float (*)(float)>");
  EXPECT_EQ(source_name("_Zbroken"), "_Zbroken");
}

TEST(Text, KernelsAreMeantByAnyOfTheirNames) {
  const std::vector<std::string> names = {"noop", "_ZN5image4blurEv", "_Z5scaleIfEvPT_j"};
  EXPECT_EQ(nearest_kernel("nop", names), 0u);
  EXPECT_EQ(nearest_kernel("blur", names), 1u);
  EXPECT_EQ(nearest_kernel("image::blru", names), 1u);
  EXPECT_EQ(nearest_kernel("_ZN5image4blurE", names), 1u);
  EXPECT_EQ(nearest_kernel("scal", names), 2u);
  EXPECT_EQ(nearest_kernel("histogram", names), std::nullopt);
  EXPECT_EQ(nearest_kernel("x", {}), std::nullopt);
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
