// The names of kernels' parameters, for messages. PTX that people write has them; compilers write
// numbers, so PTX that is made here has those of the source in lines of comment:
// "// kernelmill.names KERNEL in,out,n".
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace km {

/// Kernels by their names in the PTX, each with a name for each parameter; empty: none is known.
using ParameterNames = std::map<std::string, std::vector<std::string>, std::less<>>;

std::string write_parameter_names(const ParameterNames& names);

/// Reads the lines, and the parameters of other kernels that have names of their own. `ptx` may be
/// other data that holds PTX as it is.
ParameterNames read_parameter_names(std::string_view ptx);

/// "parameter 1 'factor'", "parameter 1": the parameter with its name, if that is known.
std::string parameter_text(const std::vector<std::string>& names, size_t index);

}  // namespace km
