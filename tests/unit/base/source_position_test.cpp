#include "base/check/source_position.h"

#include <gtest/gtest.h>

namespace km {
namespace {

TEST(SourcePosition, EachForm) {
  const struct {
    const char *position, *text, *file;
    uint64_t line;
  } rows[] = {
      {"a.cu:14 (PTX line 31)", "a.cu:14", "a.cu", 14},
      {"a.ptx:31 (a.cu:14)", "a.cu:14", "a.cu", 14},
      {"a.ptx:31", "a.ptx:31", "a.ptx", 31},
      {"PTX line 31 of a", "PTX line 31 of a", "PTX line 31 of a", 0},
      {"a (b).cu:7 (PTX line 3)", "a (b).cu:7", "a (b).cu", 7},
      {"C:part.cu", "C:part.cu", "C:part.cu", 0},
      {"", "", "", 0},
  };
  for (const auto& row : rows) {
    const SourcePosition found = SourcePosition::of(row.position);
    EXPECT_EQ(found.text, row.text);
    EXPECT_EQ(found.file, row.file);
    EXPECT_EQ(found.line, row.line);
    EXPECT_EQ(found.whole, row.position);
    EXPECT_TRUE(found.callers.empty());
  }
}

TEST(SourcePosition, CallersOfInlinedCode) {
  const std::vector<std::string> callers = {"b.cu:20", "c.cu:7"};
  const std::string position = SourcePosition::with_callers("a.cu:14 (PTX line 31)", callers);
  EXPECT_EQ(position, "a.cu:14 (PTX line 31), inlined at b.cu:20, inlined at c.cu:7");
  const SourcePosition found = SourcePosition::of(position);
  EXPECT_EQ(found.whole, "a.cu:14 (PTX line 31)");
  EXPECT_EQ(found.text, "a.cu:14");
  EXPECT_EQ(found.line, 14U);
  EXPECT_EQ(found.callers, callers);
  EXPECT_EQ(SourcePosition::with_callers("", callers), "");
}

}  // namespace
}  // namespace km
