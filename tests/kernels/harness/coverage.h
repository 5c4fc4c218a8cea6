// Which rows of the PTX table the kernels consist of that the tests run. Each test that names a row
// in tested_forms.txt must run a kernel with it; docs/reference/ptx-coverage.md is made from that
// list.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace km::kernels {

/// Lines "form | test", or "form" alone: then the test is empty.
std::vector<std::pair<std::string, std::string>> read_form_list(const std::string& path);

class Coverage : public testing::EmptyTestEventListener {
 public:
  /// Notes the forms of `kernel` in `ptx`, and of the functions of the module where it calls any.
  void note(const std::string& ptx, const std::string& kernel);
  void OnTestEnd(const testing::TestInfo& test) override;

  /// A line for each row of the list whose test ran, but not with that row.
  std::vector<std::string> differences(const std::string& path) const;
  /// Writes for each form that does not stand in `others` the first test, by name, that has it.
  /// Rows whose test was skipped stay.
  void write(const std::string& path, const std::string& others) const;

 private:
  using Forms = std::set<std::string>;

  std::map<std::string, std::map<std::string, Forms>> modules_;  // text -> kernel -> forms
  Forms current_;
  std::map<std::string, Forms> tests_;  // those that passed
  std::set<std::string> left_out_;      // those that did not pass, or were skipped
};

}  // namespace km::kernels
