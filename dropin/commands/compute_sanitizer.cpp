// compute-sanitizer: runs a program by `kernelmill check`, with the words and exit codes of
// NVIDIA's tool, so that scripts which call it find defects without a GPU.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <sstream>

#include "base/env.h"
#include "base/process/exec_report.h"
#include "dropin/commands/command.h"

namespace {

using namespace km;  // NOLINT: a command of this project
using toolchain::CommandLine;
using toolchain::Option;
using toolchain::OptionKind;

constexpr int kFailure = 2;  // which is no --error-exitcode that people give
constexpr const char* kCommand = "compute-sanitizer";

// Options without an effect here are those that say how the GPU's tool works, or what else it
// prints.
constexpr Option kOptions[] = {
    {"check-api-memory-access", "", OptionKind::kValue},
    {"check-device-heap", "", OptionKind::kValue},
    {"check-exit-code", "", OptionKind::kValue},
    {"check-optix", "", OptionKind::kValue},
    {"demangle", "", OptionKind::kValue},
    {"destroy-on-device-error", "", OptionKind::kValue},
    {"error-exitcode", "", OptionKind::kValue},
    {"force-blocking-launches", "", OptionKind::kFlag},
    {"generate-coredump", "", OptionKind::kValue},
    {"help", "h", OptionKind::kFlag},
    {"kernel-name", "", OptionKind::kValue},
    {"kernel-regex", "", OptionKind::kValue},
    {"launch-count", "c", OptionKind::kValue},
    {"launch-skip", "s", OptionKind::kValue},
    {"launch-timeout", "", OptionKind::kValue},
    {"leak-check", "", OptionKind::kValue},
    {"log-file", "", OptionKind::kValue},
    {"nvtx", "", OptionKind::kValue},
    {"padding", "", OptionKind::kValue},
    {"prefix", "", OptionKind::kValue},
    {"print-level", "", OptionKind::kValue},
    {"print-limit", "", OptionKind::kValue},
    {"racecheck-detect-level", "", OptionKind::kValue},
    {"racecheck-report", "", OptionKind::kValue},
    {"report-api-errors", "", OptionKind::kValue},
    {"require-cuda-init", "", OptionKind::kValue},
    {"show-backtrace", "", OptionKind::kValue},
    {"strict", "", OptionKind::kFlag},
    {"target-processes", "", OptionKind::kValue},
    {"tool", "t", OptionKind::kValue},
    {"track-unused-memory", "", OptionKind::kValue},
    {"version", "V", OptionKind::kFlag},
};

/// True if the option's value is the next word.
bool takes_word(const std::string& word) {
  const bool is_long = word.starts_with("--");
  const std::string name = word.substr(is_long ? 2 : 1);
  return std::any_of(std::begin(kOptions), std::end(kOptions), [&](const Option& option) {
    return option.kind == OptionKind::kValue &&
           (is_long ? option.name == name : !name.empty() && option.short_name == name);
  });
}

/// The number of words in front of the program, which begins with the first that is no option.
size_t own_words(const std::vector<std::string>& words) {
  size_t count = 0;
  while (count < words.size() && words[count].starts_with('-') && words[count] != "--") {
    count += takes_word(words[count]) ? 2 : 1;
  }
  return std::min(count, words.size());
}

/// A regular expression that a text alone matches.
std::string escaped(std::string_view text) {
  std::string pattern;
  for (const char letter : text) {
    if (std::string_view(".[]{}()*+?^$|\\").find(letter) != std::string_view::npos) pattern += '\\';
    pattern += letter;
  }
  return pattern;
}

/// The regular expression of one of the values of --kernel-name or --kernel-regex, which is a name
/// or expression with a key, or without.
std::string kernel_pattern(std::string_view value, bool is_regex) {
  const size_t equals = value.find('=');
  const std::string_view key = equals == std::string_view::npos ? "" : value.substr(0, equals);
  const bool is_substring = key == "kns" || key == "kernel_substring";
  if (is_substring || key == "kne" || key == "kernel_name" || key == "kernel_regex") {
    value.remove_prefix(equals + 1);
  }
  if (is_substring) return escaped(value);
  // The names of the program's sources have their parameters, or those of the template, behind.
  return is_regex || key == "kernel_regex" ? std::string(value)
                                           : "(^|::)" + escaped(value) + "(<.*)?$";
}

/// The regular expression of all kernels that are asked for; empty: all.
std::string kernel_patterns(const CommandLine& line) {
  std::string all;
  for (const char* const option : {"kernel-name", "kernel-regex"}) {
    if (!line.has(option)) continue;
    const bool is_regex = std::string_view(option) == "kernel-regex";
    std::istringstream values(line.value(option));
    for (std::string value; std::getline(values, value, ',');) {
      all += (all.empty() ? "" : "|") + kernel_pattern(value, is_regex);
    }
  }
  return all;
}

/// The command line of `kernelmill check`.
std::vector<std::string> check_words(const CommandLine& line, const std::string& command) {
  std::vector<std::string> words{command, "check", "--format", "compute-sanitizer", "--tool"};
  words.push_back(line.has("tool") ? line.value("tool") : "memcheck");
  const bool finds_leaks = line.has("leak-check") && line.value("leak-check") == "full";
  if (finds_leaks && words.back() == "memcheck") words.back() += ",leak";
  const std::string kernels = kernel_patterns(line);
  if (!kernels.empty()) words.insert(words.end(), {"--kernel", kernels});
  words.insert(words.end(),
               {"--error-exit", line.has("error-exitcode") ? line.value("error-exitcode") : "-1"});
  if (line.has("log-file")) words.insert(words.end(), {"--log-file", line.value("log-file")});
  if (line.has("print-limit")) words.insert(words.end(), {"--limit", line.value("print-limit")});
  words.emplace_back("--");
  return words;
}

/// Prints why the command itself failed. The exec around it has nothing to say of the program then,
/// which did not run.
int failed(const std::string& reason) {
  if (ExecReport* const report = find_exec_report()) report->opened.store(1);
  return commands::fatal(kCommand, reason, kFailure);
}

int run(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  execv(pointers[0], pointers.data());
  return failed(words[0] + ": " + std::strerror(errno));
}

}  // namespace

int main(int count, char** words) {
  const std::vector<std::string> all = commands::words_of(count, words);
  const size_t own = own_words(all);
  const Result<CommandLine> line = CommandLine::parse(kOptions, std::span(all).first(own));
  if (!line) return failed(line.error().message);
  if (line->has("help")) {
    commands::print(
        commands::help_text("compute-sanitizer [options] program [arguments]", kOptions));
    return 0;
  }
  if (line->has("version")) {
    commands::print("NVIDIA (R) Compute Sanitizer\nVersion 2025.3.0 (kernelmill check)\n");
    return 0;
  }
  const std::optional<std::string> kernelmill = foreign_env("KERNELMILL_EXEC_COMMAND");
  if (!kernelmill) {
    return failed("runs under `kernelmill exec` only");
  }
  std::vector<std::string> command = check_words(*line, *kernelmill);
  const bool has_dashes = own < all.size() && all[own] == "--";
  const auto program = all.begin() + static_cast<ptrdiff_t>(own + (has_dashes ? 1 : 0));
  if (program == all.end()) {
    return failed("no program is given");
  }
  command.insert(command.end(), program, all.end());
  return run(command);
}
