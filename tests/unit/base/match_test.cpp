#include "base/match.h"

#include <gtest/gtest.h>

#include <string>

namespace km {
namespace {

struct Left {
  int value;
};
struct Right {
  int value;
};
using Either = std::variant<Left, Right, std::string>;

std::string name_of(const Either& either) {
  return match(
      either, [](const OneOf<Left, Right> auto& side) { return std::to_string(side.value); },
      [](const std::string& text) { return text; });
}

TEST(Match, CallsTheCaseOfTheAlternative) {
  EXPECT_EQ(name_of(Left{1}), "1");
  EXPECT_EQ(name_of(Right{2}), "2");
  EXPECT_EQ(name_of(std::string("three")), "three");
}

TEST(Match, GivesCasesTheAlternativeItself) {
  Either either = Left{1};
  match(either, [](Left& left) { left.value = 5; }, [](OneOf<Right, std::string> auto&) {});
  EXPECT_EQ(std::get<Left>(either).value, 5);
}

// A variant with an alternative that no case takes does not compile.
template <class Visitor, class... Alternatives>
concept Covers = (std::invocable<Visitor, Alternatives> && ...);
constexpr auto kLeftOnly = [](const OneOf<Left> auto&) {};
static_assert(Covers<decltype(kLeftOnly), Left> && !Covers<decltype(kLeftOnly), Left, Right>);

}  // namespace
}  // namespace km
