// One `kernelmill run`: device, kernel, data in, launches, data out.
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
  bool prints = true;  ///< arrays for standard output are written there, else only kept
};

struct SessionTimes {
  std::string device;  ///< "cpu:0, <name> (avx512)"
  std::string kernel;  ///< as it stands in the PTX
  double compile_ms = 0;
  double load_ms = 0;
  std::vector<double> kernel_ms;  ///< by the device's clock, one per launch
};

Result<SessionTimes> run_session(SessionInput& input);

}  // namespace km::tools
