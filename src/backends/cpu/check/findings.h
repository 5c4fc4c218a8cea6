// The findings of the process.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "backends/cpu/check/finding.h"
#include "base/check/finding_filter.h"

namespace km::cpu {

/// Folds equal findings, prints each once on standard error when it is first seen, and tells
/// `kernelmill check` of all by the file that KM_CHECK_REPORT names. Thread-safe.
class Findings {
 public:
  /// The most different findings that are printed.
  static constexpr uint64_t kMostPrinted = 100;

  static Findings& instance();
  /// Counts a launch that was tried in other orders, or why it was not: launches that "wait for the
  /// host".
  void note_orders(const std::string& reason);
  /// Adds `finding.count` findings of one kind at one place, without a print if the program gets
  /// them itself.
  void add(const Finding& finding, bool prints);
  /// Tells the command how often each finding was seen. Called when the process ends.
  void finish();

 private:
  struct Kept {
    uint64_t number = 0, count = 0;
  };
  void print(const Finding& finding) const;
  void tell(const std::string& line);
  void tell_finding(uint64_t number, const Finding& finding);

  Findings();

  const FindingFilter filter_;
  std::mutex mutex_;
  std::map<std::string, Kept> all_;         // by what makes findings equal
  std::map<std::string, uint64_t> orders_;  // launches by the reason not to try other orders
  uint64_t printed_ = 0;
};

}  // namespace km::cpu
