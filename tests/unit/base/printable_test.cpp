#include "base/printable.h"

#include <gtest/gtest.h>

namespace km {
namespace {

TEST(Printable, ControlCharactersBecomeEscapes) {
  EXPECT_EQ(printable("/x\x1b]0;PWN\x07G.cu"), "/x\\x1b]0;PWN\\x07G.cu");
  EXPECT_EQ(printable(std::string_view("a\0b\x7f", 4)), "a\\x00b\\x7f");
  EXPECT_EQ(printable("a\rb\bc"), "a\\x0db\\x08c");
}

TEST(Printable, LineEndsAndTabsStayInTextButNotInNames) {
  EXPECT_EQ(printable("one\n\ttwo"), "one\n\ttwo");
  EXPECT_EQ(printable_name("one\n\ttwo"), "one\\n\\ttwo");
}

TEST(Printable, ValidUtf8Stays) {
  const std::string text =
      "Gr\xC3\xB6\xC3\x9F"
      "e \xE2\x82\xAC \xF0\x9F\x98\x80 \xF4\x8F\xBF\xBF";
  EXPECT_EQ(printable(text), text);
}

TEST(Printable, ControlCharactersBeyondAsciiBecomeEscapes) {
  EXPECT_EQ(printable("a\xC2\x9B"
                      "31mb"),
            "a\\u009b31mb");
}

TEST(Printable, BytesThatAreNoUtf8BecomeEscapes) {
  EXPECT_EQ(printable("a\x9B"
                      "b"),
            "a\\x9bb");
  EXPECT_EQ(printable("\xC3"), "\\xc3");
  EXPECT_EQ(printable("\xC0\x9B"), "\\xc0\\x9b");                    // overlong
  EXPECT_EQ(printable("\xE0\x82\x9B"), "\\xe0\\x82\\x9b");           // overlong
  EXPECT_EQ(printable("\xED\xA0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond Unicode
}

TEST(Printable, TextMayPassTwice) {
  const std::string once = printable("a\x1b[31m \\x1b \xFF");
  EXPECT_EQ(printable(once), once);
}

}  // namespace
}  // namespace km
