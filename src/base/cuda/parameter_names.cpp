#include "base/cuda/parameter_names.h"

#include <algorithm>

#include "base/search.h"

namespace km {
namespace {

constexpr std::string_view kMark = "// kernelmill.names ";
constexpr std::string_view kEntry = ".entry ";

/// The writer never makes longer lines, so a longer one is not the writer's.
constexpr size_t kMaxLineBytes = 64 << 10;

/// A limit for data that is not PTX. Real kernels stay below it, since each parameter takes at
/// least two bytes.
constexpr size_t kMaxParameters = 16384;

bool is_word(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '_' || letter == '$';
}

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> words;
  for (size_t at = 0; at <= list.size() && words.size() < kMaxParameters;) {
    const size_t end = std::min(list.find(',', at), list.size());
    words.emplace_back(list.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

/// Reads "// kernelmill.names KERNEL a,b"; `rest` is the text after the mark.
void read_line(std::string_view rest, ParameterNames* names) {
  rest = rest.substr(0, std::min(rest.find_first_of("\r\n"), kMaxLineBytes));
  const size_t space = rest.find(' ');
  if (space == std::string_view::npos) return;
  const std::string_view list = rest.substr(space + 1);
  const bool is_clean =
      std::all_of(list.begin(), list.end(), [](char one) { return one == ',' || is_word(one); });
  if (is_clean) names->insert_or_assign(std::string(rest.substr(0, space)), split(list));
}

/// The name in ".param .u64 .ptr .align 4 data[16]": the last word that is not a number.
std::string declared_name(std::string_view parameter) {
  parameter = parameter.substr(0, parameter.find('['));
  size_t end = parameter.size();
  while (end > 0 && !is_word(parameter[end - 1])) --end;
  size_t begin = end;
  while (begin > 0 && is_word(parameter[begin - 1])) --begin;
  return std::string(parameter.substr(begin, end - begin));
}

/// Reads the parameters of a kernel without a line of names: "KERNEL(.param .u64 a, .param .u32
/// b)".
void read_entry(std::string_view rest, ParameterNames* names) {
  rest = rest.substr(0, kMaxLineBytes);
  const size_t size =
      static_cast<size_t>(std::find_if_not(rest.begin(), rest.end(), is_word) - rest.begin());
  const std::string_view kernel = rest.substr(0, size);
  const size_t open = rest.find_first_not_of(" \t\r\n", size);
  if (kernel.empty() || open == std::string_view::npos || rest[open] != '(') return;
  const size_t close = rest.find(')', open);
  if (close == std::string_view::npos || names->contains(kernel)) return;
  const std::string_view list = rest.substr(open + 1, close - open - 1);
  const std::string numbered = std::string(kernel) + "_param_";
  if (list.find(".param") == std::string_view::npos || list.find(numbered) != std::string::npos) {
    return;
  }
  std::vector<std::string> found = split(list);
  for (std::string& parameter : found) parameter = declared_name(parameter);
  names->emplace(kernel, std::move(found));
}

}  // namespace

std::string write_parameter_names(const ParameterNames& names) {
  std::string text;
  for (const auto& [kernel, list] : names) {
    std::string line = std::string(kMark) + kernel + ' ';
    for (size_t i = 0; i < list.size(); ++i) line += (i == 0 ? "" : ",") + list[i];
    if (line.size() < kMaxLineBytes) text += line + '\n';
  }
  return text;
}

ParameterNames read_parameter_names(std::string_view ptx) {
  ParameterNames names;
  for (size_t at = find_word(ptx, kMark); at != std::string_view::npos;
       at = find_word(ptx, kMark, at)) {
    at += kMark.size();
    read_line(ptx.substr(at), &names);
  }
  for (size_t at = find_word(ptx, kEntry); at != std::string_view::npos;
       at = find_word(ptx, kEntry, at)) {
    at += kEntry.size();
    read_entry(ptx.substr(at), &names);
  }
  return names;
}

std::string parameter_text(const std::vector<std::string>& names, size_t index) {
  const std::string number = "parameter " + std::to_string(index);
  if (index >= names.size() || names[index].empty()) return number;
  return number + " '" + names[index] + "'";
}

}  // namespace km
