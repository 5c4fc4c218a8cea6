// Programs that the command runs.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace km::tools {

/// Runs a program, found as shells find it, to its end; gives its exit code as shells do.
Result<int> run_program(std::vector<std::string> words);

}  // namespace km::tools
