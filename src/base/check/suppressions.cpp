#include "base/check/suppressions.h"

#include <fnmatch.h>

#include <algorithm>
#include <optional>

#include "base/check/source_position.h"
#include "base/file/file.h"

namespace km {
namespace {

constexpr std::string_view kKernel = "kernel=", kSource = "source=";

bool fits(const std::string& pattern, std::string_view text) {
  return fnmatch(pattern.c_str(), std::string(text).c_str(), 0) == 0;
}

/// True if a pattern names the place, by its file and line or by its file.
bool names(const std::string& pattern, std::string_view position) {
  if (position.empty()) return false;
  const SourcePosition place = SourcePosition::of(position);
  return fits(pattern, place.text) || fits(pattern, place.file);
}

bool is_blank(char letter) { return letter == ' ' || letter == '\t' || letter == '\r'; }

/// Takes the next word off a line, in which quotes keep spaces and a backslash keeps what follows
/// for the pattern; nothing if a quote has no end.
std::optional<std::string> take_word(std::string_view* line) {
  std::string word;
  bool is_quoted = false;
  size_t i = 0;
  for (; i < line->size() && (is_quoted || !is_blank((*line)[i])); ++i) {
    const char letter = (*line)[i];
    if (letter == '"') {
      is_quoted = !is_quoted;
      continue;
    }
    word += letter;
    if (letter == '\\' && i + 1 < line->size()) word += (*line)[++i];
  }
  if (is_quoted) return std::nullopt;
  line->remove_prefix(i);
  return word;
}

/// A pattern for one text, in quotes.
std::string quoted(std::string_view text) {
  std::string word = "\"";
  for (const char letter : text) {
    if (std::string_view("*?[]\\\"").find(letter) != std::string_view::npos) word += '\\';
    word += letter;
  }
  return word + '"';
}

std::string_view trimmed(std::string_view line) {
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  return line;
}

}  // namespace

Result<Suppressions::Rule> Suppressions::rule(std::string_view line) {
  Rule made;
  while (!line.empty()) {
    const std::optional<std::string> word = take_word(&line);
    if (!word) return make_error(KM_ERROR_INVALID_ARGUMENT, "a quote has no end");
    line = trimmed(line);
    if (made.what.empty()) {
      made.what = *word;
    } else if (word->starts_with(kKernel)) {
      made.kernel = word->substr(kKernel.size());
    } else if (word->starts_with(kSource)) {
      made.source = word->substr(kSource.size());
    } else {
      return make_error(KM_ERROR_INVALID_ARGUMENT,
                        "'%s' is neither kernel= nor source=", word->c_str());
    }
  }
  if (made.what.find('/') == std::string::npos) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "'%s' is no tool and kind, such as race/write-read or race/*",
                      made.what.c_str());
  }
  return made;
}

Result<Suppressions> Suppressions::parse(std::string_view text, const std::string& path) {
  Suppressions all;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    Result<Rule> made = rule(line);
    if (!made) {
      return make_error(KM_ERROR_INVALID_ARGUMENT, "%s:%zu: %s", path.c_str(), number,
                        made.error().message.c_str());
    }
    all.rules_.push_back(std::move(*made));
  }
  return all;
}

Result<Suppressions> Suppressions::load(const std::string& path) {
  constexpr uint64_t kMostBytes = 16 << 20;
  KM_ASSIGN(const std::string text, read_file(path, kMostBytes));
  return parse(text, path);
}

bool Suppressions::hold(const FindingTraits& finding) const {
  const std::string what = std::string(finding.tool) + '/' + std::string(finding.kind);
  return std::any_of(rules_.begin(), rules_.end(), [&](const Rule& rule) {
    return fits(rule.what, what) && (rule.kernel.empty() || fits(rule.kernel, finding.kernel)) &&
           (rule.source.empty() || names(rule.source, finding.position) ||
            names(rule.source, finding.other_position));
  });
}

std::string Suppressions::rule_of(const FindingTraits& finding) {
  std::string line = std::string(finding.tool) + '/' + std::string(finding.kind);
  if (!finding.kernel.empty()) line += " kernel=" + quoted(finding.kernel);
  if (!finding.position.empty()) {
    line += " source=" + quoted(SourcePosition::of(finding.position).text);
  }
  return line;
}

}  // namespace km
