// Programs that the command runs.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace km::tools {

/// Runs a program, looked up as shells do, to its end; returns its exit code by the shells'
/// convention.
Result<int> run_program(std::vector<std::string> words);

}  // namespace km::tools
