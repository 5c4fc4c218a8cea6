// NVIDIA's libraries that a program requires and Kernelmill does not have.
#pragma once

#include <string>

namespace km::tools {

/// One sentence that names the libraries and the remedy; empty if the program, looked up as shells
/// do, is not an ELF file or requires none. Libraries in a folder of `library_path` (separated by
/// colons) do not count as missing.
std::string missing_libraries(const std::string& program, const std::string& library_path);

}  // namespace km::tools
