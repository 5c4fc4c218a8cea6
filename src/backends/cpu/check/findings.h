// The findings of the process.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "backends/cpu/check/finding.h"

namespace km::cpu {

/// Folds equal findings, prints each once on standard error when it is first seen, and tells
/// `kernelmill check` of all by the file that KM_CHECK_REPORT names. Thread-safe.
class Findings {
 public:
  /// The most different findings that are printed.
  static constexpr uint64_t kMostPrinted = 100;

  static Findings& instance();
  /// Adds `finding.count` findings of one kind at one place.
  void add(const Finding& finding);
  /// Tells the command how often each finding was seen. Called when the process ends.
  void finish();

 private:
  struct Kept {
    uint64_t number = 0, count = 0;
  };
  void print(const Finding& finding) const;
  void tell(const std::string& line);
  void tell_finding(uint64_t number, const Finding& finding);

  std::mutex mutex_;
  std::map<std::string, Kept> all_;  // by what makes findings equal
  uint64_t printed_ = 0;
};

}  // namespace km::cpu
