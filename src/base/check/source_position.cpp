#include "base/check/source_position.h"

#include <charconv>

namespace km {
namespace {

std::string_view place_in(std::string_view position) {
  const size_t open = position.rfind(" (");
  if (open == std::string_view::npos || !position.ends_with(')')) return position;
  const std::string_view inner = position.substr(open + 2, position.size() - open - 3);
  return inner.starts_with("PTX line ") ? position.substr(0, open) : inner;
}

}  // namespace

SourcePosition SourcePosition::of(std::string_view position) {
  const std::string_view place = place_in(position);
  SourcePosition found{std::string(place), std::string(place), 0};
  const size_t colon = place.rfind(':');
  if (colon == std::string_view::npos) return found;
  const char* const end = place.data() + place.size();
  const auto [read, failure] = std::from_chars(place.data() + colon + 1, end, found.line);
  if (failure != std::errc() || read != end) found.line = 0;
  if (found.line != 0) found.file = place.substr(0, colon);
  return found;
}

}  // namespace km
