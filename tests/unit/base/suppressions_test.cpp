#include "base/check/suppressions.h"

#include <gtest/gtest.h>

namespace km {
namespace {

constexpr FindingTraits kRace{"race", "write-read", "scale<float, int>", "src/a.cu:14 (PTX line 3)",
                              "src/b.ptx:7"};

Suppressions parsed(std::string_view text) {
  Result<Suppressions> made = Suppressions::parse(text, "rules");
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return made ? std::move(*made) : Suppressions();
}

TEST(Suppressions, RulesThatHold) {
  for (const char* rule :
       {"race/write-read", "race/*", "*/*", "r?ce/write-*", "race/* kernel=scale*",
        "race/* kernel=\"scale<float, int>\"", "race/* source=src/a.cu", "race/* source=*/a.cu:14",
        "race/* source=src/b.ptx:7", "  race/*\tkernel=*  \r", "# no rule\n\nrace/*\n"}) {
    EXPECT_TRUE(parsed(rule).hold(kRace)) << rule;
  }
}

TEST(Suppressions, RulesThatDoNot) {
  for (const char* rule :
       {"", "# race/*", "memory/*", "race/read-*", "race/* kernel=scale", "race/* source=a.cu",
        "race/* source=*:15", "race/* kernel=x source=*"}) {
    EXPECT_FALSE(parsed(rule).hold(kRace)) << rule;
  }
  EXPECT_FALSE(parsed("*/* source=*").hold({"leak", "device", "", "", ""}));
}

TEST(Suppressions, LinesThatAreNoRulesAreNamed) {
  const struct {
    const char *text, *message;
  } rows[] = {
      {"race/*\nrace", "rules:2: 'race' is no tool and kind"},
      {"race/* kernel=\"a", "rules:1: a quote has no end"},
      {"\n\nrace/* line=3", "rules:3: 'line=3' is neither"},
  };
  for (const auto& row : rows) {
    const Result<Suppressions> made = Suppressions::parse(row.text, "rules");
    ASSERT_FALSE(made) << row.text;
    EXPECT_NE(made.error().message.find(row.message), std::string::npos) << made.error().message;
  }
}

TEST(Suppressions, TheRuleOfAFindingHoldsForItAlone) {
  FindingTraits odd = kRace;
  odd.kernel = "f<[\"*?\\]>";
  const Suppressions rule = parsed(Suppressions::rule_of(odd));
  EXPECT_TRUE(rule.hold(odd));
  EXPECT_FALSE(rule.hold(kRace));
  odd.kernel = "f<[\"ab\\]>";
  EXPECT_FALSE(rule.hold(odd));
}

}  // namespace
}  // namespace km
