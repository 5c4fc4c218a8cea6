// The files that a CUDA C++ source includes from disk: they may change a compilation and do not
// stand in its input.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compile/compile.h"

namespace km {

/// A line for each file that the source and its headers could include, in any branch of their
/// conditions: its path and a hash of its contents, or that it is not there. `folders` are those
/// that the compiler searches. Nothing where that is not known: names made by macros,
/// #include_next, times of the day and the like.
std::optional<std::string> describe_includes(const CompileInput& input,
                                             const std::vector<std::string>& folders);

}  // namespace km
