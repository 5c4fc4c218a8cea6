// Suppressions, the rules by which findings of the checker are left out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace km {

/// The properties of a finding that rules name.
struct FindingTraits {
  std::string_view tool, kind, kernel;
  std::string_view position, other_position;  // as SourcePosition reads them; may be empty
};

/// The rules of a file of suppressions: lines of a tool and a kind, then patterns of the kernel and
/// of the place in the source, "race/write-* kernel=reduce* source=*.cu:14". The patterns are those
/// of file names in a shell. Words with spaces stand in double quotes.
class Suppressions {
 public:
  /// Reads the text of a file. The error names `path` and the line that is no rule.
  static Result<Suppressions> parse(std::string_view text, const std::string& path);
  /// Reads a file.
  static Result<Suppressions> load(const std::string& path);
  /// True if a rule holds for the finding.
  bool hold(const FindingTraits& finding) const;

  /// The rule for findings like this one.
  static std::string rule_of(const FindingTraits& finding);

 private:
  struct Rule {
    std::string what, kernel, source;
  };
  static Result<Rule> rule(std::string_view line);

  std::vector<Rule> rules_;
};

}  // namespace km
