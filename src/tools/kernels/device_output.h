// The text that kernels print, beside a bar.
#pragma once

#include "tools/library.h"
#include "tools/terminal.h"

namespace km::tools {

/// Sends the output of a context's kernels through a Progress as long as this object lives. The
/// output stays with the library, which writes to standard output, if the Progress is not visible.
class DeviceOutput {
 public:
  DeviceOutput(km_context context, Progress& progress);
  ~DeviceOutput();
  DeviceOutput(const DeviceOutput&) = delete;
  DeviceOutput& operator=(const DeviceOutput&) = delete;

 private:
  const km_context context_;  // null: nothing was changed
};

}  // namespace km::tools
