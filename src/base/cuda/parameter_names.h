// The names of kernels' parameters, for messages. Handwritten PTX has them; compilers number
// parameters, so the PTX that this library generates has the source's names in comments:
// "// kernelmill.names KERNEL in,out,n".
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace km {

/// Maps a kernel's name in the PTX to a name for each of its parameters; an empty name is unknown.
using ParameterNames = std::map<std::string, std::vector<std::string>, std::less<>>;

std::string write_parameter_names(const ParameterNames& names);

/// Reads the comments with names, and the parameters of other kernels that have names of their own.
/// `ptx` may be any data that contains PTX text.
ParameterNames read_parameter_names(std::string_view ptx);

/// "parameter 1 'factor'", or "parameter 1" if its name is unknown.
std::string parameter_text(const std::vector<std::string>& names, size_t index);

}  // namespace km
