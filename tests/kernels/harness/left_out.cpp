#include "harness/left_out.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include <gtest/gtest.h>

namespace km::kernels {
namespace {

constexpr const char* kRefused = "refused";
/// "needs": something that the device has not; "unsafe": the driver crashes; "slow": over no limit
/// of ours, but of anybody's patience.
constexpr std::array kWords = {kRefused, "needs", "unsafe", "slow"};

/// Statuses by which a device refuses a kernel or its launch, as messages of failures name them.
constexpr std::array<std::string_view, 2> kRefusals = {"KM_ERROR_UNSUPPORTED_PTX",
                                                       "KM_ERROR_NOT_SUPPORTED"};

/// True if the test has failed, and each of its failures names a refusal.
bool is_refused(const testing::TestResult& result) {
  bool has_failed = false;
  for (int i = 0; i < result.total_part_count(); ++i) {
    const testing::TestPartResult& part = result.GetTestPartResult(i);
    if (!part.failed()) continue;
    const std::string_view text = part.message();
    has_failed = std::any_of(kRefusals.begin(), kRefusals.end(), [&](std::string_view status) {
      return text.find(status) != std::string_view::npos;
    });
    if (!has_failed) return false;
  }
  return has_failed;
}

const testing::TestInfo* find_test(const std::string& name) {
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int k = 0; k < suite.total_test_count(); ++k) {
      const testing::TestInfo& test = *suite.GetTestInfo(k);
      if (name == std::string(suite.name()) + "." + test.name()) return &test;
    }
  }
  return nullptr;
}

}  // namespace

LeftOutList::LeftOutList() {
  const char* const path = std::getenv("KM_TEST_LEFT_OUT");
  if (path == nullptr) return;
  runs_refused_ = std::getenv("KM_TEST_REFUSED") != nullptr;
  std::ifstream file(path);
  if (!file) throw std::runtime_error(std::string("KM_TEST_LEFT_OUT: cannot read ") + path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream cells(line);
    LeftOut row;
    std::getline(cells, row.test, '\t');
    std::getline(cells, row.word, '\t');
    std::getline(cells, row.reason);
    rows_.push_back(row);
  }
}

std::string LeftOutList::filtered(const std::string& filter) const {
  std::string names;
  for (const LeftOut& row : rows_) {
    if (runs_refused_ && row.word != kRefused) continue;
    names += (names.empty() ? "" : ":") + row.test;
  }
  if (names.empty()) return filter;
  if (runs_refused_) return names;
  return filter + (filter.find('-') == std::string::npos ? "-" : ":") + names;
}

std::vector<std::string> LeftOutList::faults() const {
  std::vector<std::string> lines;
  for (const LeftOut& row : rows_) {
    const testing::TestInfo* const test = find_test(row.test);
    const bool has_meaning = std::find(kWords.begin(), kWords.end(), row.word) != kWords.end();
    if (test == nullptr) lines.push_back(row.test + ": there is no such test");
    if (!has_meaning || row.reason.empty()) {
      lines.push_back(row.test + ": no reason, or a word without meaning: '" + row.word + "'");
    }
    const bool has_run = runs_refused_ && test != nullptr && test->should_run();
    if (has_run && row.word == kRefused && !is_refused(*test->result())) {
      const char* const what =
          test->result()->Passed() ? " passes" : " is not refused by the device";
      lines.push_back(row.test + what + ": it does not belong in the list");
    }
  }
  return lines;
}

}  // namespace km::kernels
