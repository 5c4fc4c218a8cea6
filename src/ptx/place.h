// Source positions of a module, for messages.
#pragma once

#include <string>

#include "ptx/ir.h"

namespace km::ptx {

/// A position in a module's text: "sobel.ptx:41:3". A module compiled from CUDA C++ has the name of
/// its source, in which the line does not exist: "PTX line 41, column 3 of sobel.cu".
std::string text_place(const std::string& module_name, Location location);

/// The source line of an instruction according to `.loc`: "scale.cu:12"; empty without `.loc`.
std::string source_place(const Module& module, const Function& function,
                         const Instruction& instruction);

}  // namespace km::ptx
