// CheckOptions, what `kernelmill check` and `kernelmill run --check` look for and tell, with the
// options of the command line that say so: both commands have all of them.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace km::tools {

/// The tools that look for defects, and the files that say what they found. Files that are not
/// wanted are empty.
struct CheckOptions {
  std::string tools;               // separated by commas; empty: the usual ones
  bool tells_same_values = false;  // unordered writes of one value are findings
  bool runs_in_step = false;       // the lanes of a warp do
  uint64_t orders = 0;             // in which each launch is tried; 0: none
  uint64_t seed = 0;               // of the first one of the orders; 0: the usual one
  bool ignores_sum_order = false;  // differences of floating-point sums are no findings
  std::string kernels;             // a regular expression; empty: all
  std::string json, sarif;
  std::string suppress, written_rules;
  std::string format = "text", log;  // the words of the table, and where compute-sanitizer's go
  int error_exit = 1;                // -1: the program's exit status, whatever was found
  uint64_t limit = 100;              // the most findings that the table shows

  /// True if programs print their findings, which compute-sanitizer's words replace.
  bool prints() const { return format == "text"; }
  /// Tests what the parser cannot.
  Status check() const;
  /// The exit status of a command whose program ended with `code`.
  int exit_status(int code, bool has_findings) const {
    return has_findings && error_exit >= 0 ? error_exit : code;
  }
};

/// Refuses an option's value that has no characters, which would count as none given.
CLI::Validator not_empty();

/// Adds all options but that of the tools, whose names begin with `--` and the prefix, and returns
/// them.
std::vector<CLI::Option*> add_check_options(CLI::App& parser, const std::string& prefix,
                                            CheckOptions& options);

}  // namespace km::tools
