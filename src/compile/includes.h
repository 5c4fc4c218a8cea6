// The files that a CUDA C++ source includes from disk. They may change a compilation but are not
// part of its input.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compile/compile.h"

namespace km {

/// One line for each file that the source and its headers could include, in any branch of their
/// conditions: its path, and a hash of its contents or a note that it is missing. `folders` are
/// those that the compiler searches. Nothing if the files cannot be determined: names made by
/// macros, #include_next, __TIME__ and similar.
std::optional<std::string> describe_includes(const CompileInput& input,
                                             const std::vector<std::string>& folders);

}  // namespace km
