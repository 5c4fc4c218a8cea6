// Helpers that the commands in place of NVIDIA's tools share: words, messages and exit codes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dropin/toolchain/options.h"

namespace km::commands {

/// The words of the command line behind the command's name.
std::vector<std::string> words_of(int count, char** words);

/// Prints on standard output, or on standard error. A reader that has gone away is no failure.
void print(std::string_view text);
void print_error(std::string_view text);

/// Prints "ptxas fatal   : text" and gives the exit code.
int fatal(std::string_view command, std::string_view text, int exit_code);

/// The --help of a command: its usage and the names of its options.
std::string help_text(std::string_view usage, std::span<const toolchain::Option> options);

}  // namespace km::commands
