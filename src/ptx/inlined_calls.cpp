#include "ptx/inlined_calls.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "ptx/place.h"

namespace km::ptx {
namespace {

/// Chains of inlined calls are cut at this depth, since the text of `.loc` may name itself.
constexpr size_t kMostCallers = 64;
constexpr std::string_view kBlanks = " \t\r";

/// A directive `.loc file line column[, function_name label, inlined_at file line column]`.
struct LocationText {
  SourceLine line;
  std::optional<SourceLine> call;
};

bool is_same(const SourceLine& a, const SourceLine& b) {
  return a.file == b.file && a.line == b.line && a.column == b.column;
}

/// Reads three numbers; nothing if there is something else.
std::optional<SourceLine> read_numbers(std::string_view text) {
  SourceLine read;
  for (uint32_t* field : {&read.file, &read.line, &read.column}) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), *field);
    if (failure != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
  }
  return read;
}

/// Reads a line of the text; nothing if it is another one.
std::optional<LocationText> read_location(std::string_view line) {
  constexpr std::string_view kName = ".loc", kCall = "inlined_at";
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  if (!line.starts_with(kName)) return std::nullopt;
  const std::optional<SourceLine> read = read_numbers(line.substr(kName.size()));
  if (!read) return std::nullopt;
  LocationText location{*read, std::nullopt};
  const size_t call = line.find(kCall);
  if (call == std::string_view::npos) return location;
  location.call = read_numbers(line.substr(call + kCall.size()));
  return location;
}

/// The line where the function begins that a line of the text belongs to.
uint32_t begin_of_function(const Module& module, uint32_t line) {
  uint32_t begin = 1;
  for (const Function& function : module.functions) {
    const uint32_t own = function.location.line;
    if (!function.is_declaration && own <= line) begin = std::max(begin, own);
  }
  return begin;
}

/// The `.loc` directives from a line of the text up to another one; lines count from 1.
std::vector<LocationText> locations_between(std::string_view text, uint32_t first, uint32_t line) {
  std::vector<LocationText> all;
  for (uint32_t number = 1; number < line && !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const auto location =
        number >= first ? read_location(text.substr(0, end)) : std::optional<LocationText>();
    if (location) all.push_back(*location);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

}  // namespace

std::vector<std::string> callers_of_line(const Module& module, std::string_view text,
                                         uint32_t line) {
  const std::vector<LocationText> locations =
      locations_between(text, begin_of_function(module, line), line);
  std::vector<std::string> callers;
  if (locations.empty()) return callers;
  std::optional<SourceLine> call = locations.back().call;
  // Compilers write the line of a call before the lines that are inlined there.
  for (auto at = locations.rbegin(); call && callers.size() < kMostCallers;) {
    const std::optional<std::string> file = source_file(module, *call);
    if (!file) break;
    callers.push_back(*file + ":" + std::to_string(call->line));
    while (at != locations.rend() && !is_same(at->line, *call)) ++at;
    call = at != locations.rend() ? (at++)->call : std::nullopt;
  }
  return callers;
}

}  // namespace km::ptx
