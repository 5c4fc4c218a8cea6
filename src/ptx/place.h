// Source positions of a module, for messages.
#pragma once

#include <optional>
#include <string>

#include "ptx/ir.h"

namespace km::ptx {

/// A position in a module's text: "sobel.ptx:41:3". A module compiled from CUDA C++ has the name of
/// its source, in which the line does not exist: "PTX line 41, column 3 of sobel.cu".
std::string text_place(const std::string& module_name, Location location);

/// The file of a source position, printable; nothing if the module does not name it.
std::optional<std::string> source_file(const Module& module, const SourceLine& line);

/// The source line of an instruction according to `.loc`: "scale.cu:12"; empty without `.loc`.
std::string source_place(const Module& module, const Function& function,
                         const Instruction& instruction);

/// The source line of the first instruction on a line of the text; empty without one.
std::string source_place_of_line(const Module& module, uint32_t line);

/// A line of a module's text with its source line, which may be empty: "sobel.ptx:41 (sobel.cu:3)",
/// or "sobel.cu:3 (PTX line 41)" for a module that has the name of its source.
std::string place_of_line(const std::string& module_name, uint32_t line, const std::string& source);

}  // namespace km::ptx
