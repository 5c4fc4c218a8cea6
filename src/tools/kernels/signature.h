// Compares the arguments of the command line with a kernel's parameters.
#pragma once

#include <string>
#include <vector>

#include "tools/arrays/argument.h"
#include "tools/library.h"

namespace km::tools {

/// Checks that each parameter has an argument of its kind: an integer for a float, or an array for
/// a number, is an error of the command line.
Status check_arguments(km_function function, const std::string& kernel,
                       const std::vector<Argument>& arguments);

/// Prefixes a failure with the argument's number and text.
Error about_argument(size_t index, const Argument& argument, const Error& failure);

}  // namespace km::tools
