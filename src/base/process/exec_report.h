// The report of programs that `kernelmill exec` runs to the command: a few words of memory that the
// driver library in those programs finds by the variable KM_EXEC_REPORT. No file is involved that
// could be left behind, and no descriptor that a program could close or take for its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/file/file.h"

namespace km {

/// Shared by the command and all its programs.
struct ExecReport {
  std::atomic<uint32_t> opened;  // a program has loaded the driver library
  std::atomic<uint32_t> failed;  // the reason of a failed call has been shown
};

/// The command's end.
class ExecReportOwner {
 public:
  /// Makes the shared memory. Without it the command learns nothing, and that is no error.
  ExecReportOwner();
  ~ExecReportOwner();
  ExecReportOwner(const ExecReportOwner&) = delete;
  ExecReportOwner& operator=(const ExecReportOwner&) = delete;

  /// The value of KM_EXEC_REPORT for the programs; empty: there is no shared memory.
  std::string name() const;
  /// True if it is known that no program has loaded the driver library.
  bool is_unopened() const { return report_ != nullptr && report_->opened.load() == 0; }

 private:
  File file_{-1};
  ExecReport* report_ = nullptr;
};

/// A program's end, mapped until the process ends; null where KM_EXEC_REPORT names none.
ExecReport* find_exec_report();

}  // namespace km
