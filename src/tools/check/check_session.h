// CheckSession, the run of a program under the checker.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/check/suppressions.h"
#include "base/result.h"
#include "tools/check/findings_file.h"

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
  bool prints = true;              // programs print their findings
  std::string kernels;             // a regular expression; empty: all
  std::string json, sarif;
  std::string suppress, written_rules;
};

/// The findings of the programs of a session.
struct SessionFindings {
  std::vector<ToldFinding> all;            // without those that a rule suppresses
  uint64_t suppressed = 0;                 // different ones
  std::map<std::string, uint64_t> orders;  // of FindingsFile
};

/// Sets the environment of the programs that run while it exists.
class CheckSession {
 public:
  /// Tests the options, so that nothing runs in vain, and sets the environment.
  static Result<CheckSession> begin(const CheckOptions& options);
  /// Reads what was found, and writes the files.
  Result<SessionFindings> end();

 private:
  CheckSession(CheckOptions options, FindingsFile file)
      : options_(std::move(options)), file_(std::move(file)) {}
  Status write(const SessionFindings& found, const std::vector<ToldFinding>& all) const;

  CheckOptions options_;
  FindingsFile file_;
  Suppressions suppressions_;
};

}  // namespace km::tools
