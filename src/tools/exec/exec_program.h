// A program that runs on Kernelmill's CUDA libraries, with the options of `kernelmill exec`.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/process/exec_report.h"
#include "base/result.h"
#include "tools/exec/own_libraries.h"

namespace km::tools {

/// Takes the options that say what the program sees, sets its environment and runs it.
class ExecProgram {
 public:
  /// Adds the options to a command, and the program's words behind `--`.
  void add_options(CLI::App& parser);
  /// Adds the option --unchecked.
  void add_unchecked(CLI::App& parser);
  /// Runs the program. Returns its exit status, or the error for which it could not run.
  Result<int> run();
  /// The program as it was given.
  const std::string& name() const { return words_[0]; }

 private:
  Status prepare(const OwnLibraries& own, const ExecReportOwner& shared) const;
  Status check_options() const;
  Status set_options() const;
  Result<OwnLibraries> libraries() const;
  bool tell_missing_libraries(int code) const;

  CLI::App* parser_ = nullptr;
  int devices_ = 0;  // not given
  std::string capability_, trace_;
  std::vector<std::string> left_alone_;
  std::optional<uint64_t> memory_bytes_;
  bool unchecked_ = false, log_ = false, counts_ = false;
  std::vector<std::string> words_;
};

/// Sets a variable of the environment.
Status set_variable(const char* name, const std::string& value);

}  // namespace km::tools
