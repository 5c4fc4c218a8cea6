// FindingFilter, the findings of the checker that are told of.
#pragma once

#include <regex.h>

#include <memory>
#include <string>

#include "base/check/suppressions.h"
#include "base/result.h"

namespace km {

/// The kernels by their names: a regular expression (POSIX, extended) that the name contains.
class KernelPattern {
 public:
  static Result<KernelPattern> parse(const std::string& pattern);
  bool fits(const std::string& kernel) const;

 private:
  struct Compiled {
    regex_t regex{};
    bool is_valid = false;
    ~Compiled() {
      if (is_valid) regfree(&regex);
    }
  };
  std::unique_ptr<Compiled> compiled_;
};

/// The rules of a process: KM_CHECK_SUPPRESS and KM_CHECK_KERNELS.
class FindingFilter {
 public:
  /// Reads the rules that the environment names. The error names the variable.
  static Result<FindingFilter> from_environment();
  /// True if findings of this kernel are wanted. Those of no kernel are.
  bool wants(const std::string& kernel) const;
  /// True if a rule suppresses the finding.
  bool suppresses(const FindingTraits& finding) const { return suppressions_.hold(finding); }

 private:
  Suppressions suppressions_;
  std::unique_ptr<KernelPattern> kernels_;  // null: all
};

}  // namespace km
