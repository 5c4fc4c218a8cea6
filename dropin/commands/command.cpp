#include "dropin/commands/command.h"

#include <cstdio>

#include "base/printable.h"

namespace km::commands {

std::vector<std::string> words_of(int count, char** words) {
  std::vector<std::string> found;
  for (int i = 1; i < count; ++i) found.emplace_back(words[i]);
  return found;
}

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void print_error(std::string_view text) {
  // Names of files and words of their texts may hold control sequences of terminals.
  const std::string shown = printable(text);
  std::fwrite(shown.data(), 1, shown.size(), stderr);
}

int fatal(std::string_view command, std::string_view text, int exit_code) {
  print_error(std::string(command) + " fatal   : " + std::string(text) + "\n");
  return exit_code;
}

std::string help_text(std::string_view usage, std::span<const toolchain::Option> options) {
  std::string text = "\nUsage  : " + std::string(usage) + "\n\nOptions\n=======\n\n";
  for (const toolchain::Option& option : options) {
    text += "--" + std::string(option.name);
    if (option.kind == toolchain::OptionKind::kBoolean) text += " <true|false>";
    if (option.kind == toolchain::OptionKind::kList) text += " <value>,...";
    const bool has_value = option.kind == toolchain::OptionKind::kValue ||
                           option.kind == toolchain::OptionKind::kGlued ||
                           option.kind == toolchain::OptionKind::kEither;
    if (has_value) text += " <value>";
    if (!option.short_name.empty()) text += "  (-" + std::string(option.short_name) + ")";
    text += "\n";
  }
  return text;
}

}  // namespace km::commands
