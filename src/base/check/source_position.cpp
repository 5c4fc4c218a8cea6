#include "base/check/source_position.h"

#include <charconv>

namespace km {
namespace {

constexpr std::string_view kCaller = ", inlined at ";

std::string_view place_in(std::string_view position) {
  const size_t open = position.rfind(" (");
  if (open == std::string_view::npos || !position.ends_with(')')) return position;
  const std::string_view inner = position.substr(open + 2, position.size() - open - 3);
  return inner.starts_with("PTX line ") ? position.substr(0, open) : inner;
}

}  // namespace

SourcePosition SourcePosition::of(std::string_view position) {
  SourcePosition found;
  for (size_t at = 0; (at = position.rfind(kCaller)) != std::string_view::npos;) {
    found.callers.insert(found.callers.begin(), std::string(position.substr(at + kCaller.size())));
    position = position.substr(0, at);
  }
  const std::string_view place = place_in(position);
  found.whole = position;
  found.text = found.file = place;
  const size_t colon = place.rfind(':');
  if (colon == std::string_view::npos) return found;
  const char* const end = place.data() + place.size();
  const auto [read, failure] = std::from_chars(place.data() + colon + 1, end, found.line);
  if (failure != std::errc() || read != end) found.line = 0;
  if (found.line != 0) found.file = place.substr(0, colon);
  return found;
}

std::string SourcePosition::with_callers(std::string position,
                                         const std::vector<std::string>& callers) {
  if (position.empty()) return position;
  for (const std::string& caller : callers) position += std::string(kCaller) + caller;
  return position;
}

}  // namespace km
