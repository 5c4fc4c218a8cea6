#include "dropin/toolchain/options.h"

#include <algorithm>
#include <cctype>

#include "base/file/file.h"

namespace km::toolchain {
namespace {

constexpr std::string_view kOptionsFile = "options-file";
constexpr int kMostFilesInFiles = 16;

template <class... Arguments>
Error wrong(const char* format, Arguments... arguments) {
  return make_error(KM_ERROR_INVALID_ARGUMENT, format, arguments...);
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  for (size_t comma = text.find(','); comma != text.npos; comma = text.find(',')) {
    parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(comma + 1);
  }
  parts.emplace_back(text);
  return parts;
}

/// One word of a command line, cut into the option that it names and its value.
struct Word {
  const Option* option = nullptr;
  bool has_value = false;
  std::string value;
};

Word read_word(std::span<const Option> options, std::string_view word) {
  const bool is_long = word.starts_with("--");
  const std::string_view body = word.substr(is_long ? 2 : 1);
  const size_t equals = body.find('=');
  const std::string_view name = body.substr(0, equals);
  Word found;
  for (const Option& option : options) {
    const bool is_named = option.name == name || (!is_long && option.short_name == name);
    if (!is_named || name.empty()) continue;
    found.option = &option;
    found.has_value = equals != body.npos;
    if (found.has_value) found.value = body.substr(equals + 1);
    return found;
  }
  for (const Option& option : options) {
    const bool may_be_glued =
        option.kind == OptionKind::kGlued || option.kind == OptionKind::kEither;
    if (!may_be_glued || is_long || !body.starts_with(option.short_name)) continue;
    found = {&option, true, std::string(body.substr(option.short_name.size()))};
  }
  return found;
}

}  // namespace

Result<CommandLine> CommandLine::parse(std::span<const Option> options,
                                       std::span<const std::string> words) {
  CommandLine line;
  KM_TRY(line.read(options, words, 0));
  return line;
}

Status CommandLine::read(std::span<const Option> options, std::span<const std::string> words,
                         int depth) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& text = words[i];
    if (text.size() < 2 || text[0] != '-') {
      inputs_.push_back(text);
      continue;
    }
    Word word = read_word(options, text);
    if (word.option == nullptr) {
      return wrong("Unknown option '%s'", text.substr(1, text.find('=') - 1).c_str());
    }
    const OptionKind kind = word.option->kind;
    const bool is_alone =
        kind == OptionKind::kFlag || (kind == OptionKind::kGlued && !text.starts_with("--"));
    if (!is_alone && !word.has_value) {
      if (i + 1 == words.size()) return wrong("argument expected after '%s'", text.c_str());
      word.value = words[++i];
    }
    if (word.option->name == kOptionsFile) {
      KM_TRY(read_file(options, word.value, depth));
    } else {
      KM_TRY(add(*word.option, word.value));
    }
  }
  return {};
}

Status CommandLine::read_file(std::span<const Option> options, const std::string& path, int depth) {
  const auto text = km::read_file(path);
  if (!text || depth == kMostFilesInFiles) {
    return wrong("Could not open options file '%s'", path.c_str());
  }
  return read(options, split_words(*text), depth + 1);
}

Status CommandLine::add(const Option& option, const std::string& value) {
  if (option.kind == OptionKind::kBoolean && value != "true" && value != "false") {
    return wrong("'%s': expected true or false", value.c_str());
  }
  if (option.kind != OptionKind::kList) {
    given_.emplace_back(option.name, value);
    return {};
  }
  for (std::string& part : split_list(value)) given_.emplace_back(option.name, std::move(part));
  return {};
}

bool CommandLine::has(std::string_view name) const {
  return std::any_of(given_.begin(), given_.end(),
                     [&](const auto& each) { return each.first == name; });
}

std::string CommandLine::value(std::string_view name) const {
  const std::vector<std::string> all = values(name);
  return all.empty() ? std::string() : all.back();
}

std::vector<std::string> CommandLine::values(std::string_view name) const {
  std::vector<std::string> found;
  for (const auto& [option, value] : given_) {
    if (option == name) found.push_back(value);
  }
  return found;
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool is_open = false;  // a word has begun
  char quote = 0;
  for (const char letter : text) {
    if (quote != 0 ? letter == quote : letter == '"' || letter == '\'') {
      quote = quote != 0 ? '\0' : letter;
      is_open = true;
    } else if (quote == 0 && std::isspace(static_cast<unsigned char>(letter)) != 0) {
      if (is_open) words.push_back(word);
      word.clear();
      is_open = false;
    } else {
      word += letter;
      is_open = true;
    }
  }
  if (is_open) words.push_back(word);
  return words;
}

}  // namespace km::toolchain
