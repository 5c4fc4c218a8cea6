// CheckSession, the run of a program under the checker.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/check/suppressions.h"
#include "base/result.h"
#include "tools/check/check_options.h"
#include "tools/check/findings_file.h"

namespace km::tools {

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
  /// Prints the table of what was found, or compute-sanitizer's words.
  Status tell(const SessionFindings& found) const;

 private:
  CheckSession(CheckOptions options, FindingsFile file)
      : options_(std::move(options)), file_(std::move(file)) {}
  Status write(const SessionFindings& found, const std::vector<ToldFinding>& all) const;

  CheckOptions options_;
  FindingsFile file_;
  Suppressions suppressions_;
};

}  // namespace km::tools
