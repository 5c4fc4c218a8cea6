// The arguments of the command line against the parameters of a kernel.
#pragma once

#include <string>
#include <vector>

#include "tools/arrays/argument.h"
#include "tools/library.h"

namespace km::tools {

/// Checks that there is an argument for each parameter, and that numbers are of its kind: an
/// integer for a float, or an array for a number, is an error of the command line.
Status check_arguments(km_function function, const std::string& kernel,
                       const std::vector<Argument>& arguments);

/// The failure of an argument, with its number and its text in front.
Error about_argument(size_t index, const Argument& argument, const Error& failure);

}  // namespace km::tools
