// Exhaustive pattern matching over the alternatives of a variant.
#pragma once

#include <concepts>
#include <utility>
#include <variant>

namespace km {

/// Combines the cases of match() into one function object (the overload pattern).
template <class... Cases>
struct Overloads : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloads(Cases...) -> Overloads<Cases...>;

/// Constrains a case that several alternatives share: `[](const OneOf<A, B> auto& it)`.
template <class T, class... Alternatives>
concept OneOf = (std::same_as<T, Alternatives> || ...);

/// Calls the case for the alternative that the variant holds. A missing case is a compile error.
template <class Variant, class... Cases>
decltype(auto) match(Variant&& variant, Cases&&... cases) {
  return std::visit(Overloads{std::forward<Cases>(cases)...}, std::forward<Variant>(variant));
}

}  // namespace km
