// The report from programs that `kernelmill exec` runs back to the command: a few words of shared
// memory, which the driver library finds by the variable KM_EXEC_REPORT. There is no file that
// could be left behind, and no descriptor that a program could close or mistake for its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/file/file.h"

namespace km {

/// The words shared by the command and all its programs.
struct ExecReport {
  std::atomic<uint32_t> opened;  // a program loaded the driver library
  std::atomic<uint32_t> failed;  // a failed call's reason was shown
};

/// The command's side of the report.
class ExecReportOwner {
 public:
  /// Creates the shared memory. A failure is not an error: the command then has no report.
  ExecReportOwner();
  ~ExecReportOwner();
  ExecReportOwner(const ExecReportOwner&) = delete;
  ExecReportOwner& operator=(const ExecReportOwner&) = delete;

  /// The value of KM_EXEC_REPORT for the programs; empty if there is no shared memory.
  std::string name() const;
  /// True if it is certain that no program has loaded the driver library.
  bool is_unopened() const { return report_ != nullptr && report_->opened.load() == 0; }

 private:
  File file_{-1};
  ExecReport* report_ = nullptr;
};

/// The report of a program, mapped until the process ends; null if KM_EXEC_REPORT names none.
ExecReport* find_exec_report();

}  // namespace km
