// The list of kernel tests that a device cannot pass: KM_TEST_LEFT_OUT=FILE, with a line for each
// test: its name, a word, the reason. "refused": the device refuses a kernel of it; with
// KM_TEST_REFUSED=1 those run alone, and one that passes does not belong in the list. Tests with
// another word are not run at all.
#pragma once

#include <string>
#include <vector>

namespace km::kernels {

struct LeftOut {
  std::string test, word, reason;
};

class LeftOutList {
 public:
  /// The list reads what the environment names; it is empty without that.
  LeftOutList();

  /// True if only the refused tests are to run.
  bool runs_refused() const { return runs_refused_; }
  /// A filter for gtest that takes from `filter` what is not to run.
  std::string filtered(const std::string& filter) const;
  /// Lines that say what is wrong with the list: a name that no test has, a word without meaning,
  /// and, after the refused tests have run, those that passed.
  std::vector<std::string> faults() const;

 private:
  std::vector<LeftOut> rows_;
  bool runs_refused_ = false;
};

}  // namespace km::kernels
