// One `kernelmill run`: opens the device, loads the kernel, copies data in, launches, copies data
// out.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tools/arrays/argument.h"
#include "tools/kernels/kernel.h"

namespace km::tools {

struct SessionInput {
  std::string device;
  Source source;
  CompileOptions options;
  std::string kernel;
  std::array<uint32_t, 3> grid = {1, 1, 1};
  std::array<uint32_t, 3> block = {1, 1, 1};
  uint64_t shared_bytes = 0;
  std::vector<Argument> arguments;
  uint32_t repeat = 1;
  uint64_t least_cpu_ns = 0;  ///< launches go on until the process has taken this time for them
  bool prints = true;         ///< prints arrays for standard output; false: only keeps them
};

struct SessionTimes {
  std::string device;  ///< "cpu:0, <name> (avx512)"
  std::string kernel;  ///< name in the PTX
  double compile_ms = 0;
  double load_ms = 0;
  std::vector<double> kernel_ms;  ///< device time of each launch
};

Result<SessionTimes> run_session(SessionInput& input);

}  // namespace km::tools
