#include "base/text.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <vector>

namespace km {

namespace {

/// The offset of the parameter list at the end of a demangled name; the name's size if it has none.
size_t parameter_list(std::string_view name) {
  if (!name.ends_with(')')) return name.size();
  int depth = 0;
  for (size_t i = name.size(); i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) return i;
  }
  return name.size();
}

/// The offset of the function's own name in a demangled name: instances of templates have their
/// result type in front of it.
size_t after_result_type(std::string_view name) {
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<' || name[i] == '(' || name[i] == '{') ++depth;
    if (name[i] == '>' || name[i] == ')' || name[i] == '}') --depth;
    if (name[i] == ' ' && depth == 0) start = i + 1;
  }
  return start;
}

}  // namespace

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = row[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      next[j] = std::min({replaced, row[j] + 1, next[j - 1] + 1});
      const bool swaps = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swaps) next[j] = std::min(next[j], before[j - 2] + 1);
    }
    before.swap(row);
    row.swap(next);
  }
  return row[b.size()];
}

namespace {

/// "scale" for "image::scale<float>".
std::string short_name(const std::string& source_name) {
  const std::string name = source_name.substr(0, source_name.find('<'));
  const size_t colon = name.rfind("::");
  return colon == std::string::npos ? name : name.substr(colon + 2);
}

}  // namespace

std::optional<size_t> nearest_kernel(std::string_view word, std::span<const std::string> names) {
  std::vector<std::string> spellings;
  for (const std::string& name : names) spellings.push_back(source_name(name));
  for (const std::string& name : names) spellings.push_back(short_name(source_name(name)));
  spellings.insert(spellings.end(), names.begin(), names.end());
  const std::vector<std::string_view> candidates(spellings.begin(), spellings.end());
  const std::string_view near = nearest_word(word, candidates);
  if (near.empty()) return std::nullopt;
  const auto found = std::find(candidates.begin(), candidates.end(), near);
  return static_cast<size_t>(found - candidates.begin()) % names.size();
}

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> candidates) {
  // The edit distance takes quadratic time, and words longer than this are not typing errors.
  constexpr size_t kLongest = 256;
  if (word.size() > kLongest) return {};
  std::string_view best;
  size_t best_distance = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > kLongest) continue;
    const size_t distance = edit_distance(word, candidate);
    if (distance >= best_distance) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  size_t start = 0;
  while (true) {
    const size_t end = text.find(separator, start);
    parts.emplace_back(text.substr(start, end - start));
    if (end == std::string_view::npos) return parts;
    start = end + 1;
  }
}

std::string suggestion(std::string_view word, std::span<const std::string_view> candidates) {
  const std::string_view near = nearest_word(word, candidates);
  return near.empty() ? std::string() : " Did you mean '" + std::string(near) + "'?";
}

std::string counted(uint64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string hex(unsigned long long value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", value);
  return text;
}

std::string source_name(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  if (!text || !mangled.starts_with("_Z")) return mangled;
  std::string_view name = text.get();
  name = name.substr(0, parameter_list(name));
  return std::string(name.substr(after_result_type(name)));
}

}  // namespace km
