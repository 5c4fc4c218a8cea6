// Places in a module, for messages.
#pragma once

#include <string>

#include "ptx/ir.h"

namespace km::ptx {

/// A place in a module's text: "sobel.ptx:41:3". A module that is made of CUDA C++ has the name of
/// its source, of which the line is none: "PTX line 41, column 3 of sobel.cu".
std::string text_place(const std::string& module_name, Location location);

/// The line of the source that became the instruction, where `.loc` says so: "scale.cu:12"; empty
/// where it does not.
std::string source_place(const Module& module, const Function& function,
                         const Instruction& instruction);

}  // namespace km::ptx
